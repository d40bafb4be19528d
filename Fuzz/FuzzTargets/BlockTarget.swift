@testable import TileCache

private nonisolated(unsafe) let codec = try? TileCodec(maximumTileBytes: 64 * 64 * 8)
private let formats: [TilePixelFormat] = [
    .rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32, .opaque(bytesPerTile: 512),
]

/// Fuzzes blocks: random ones, and ones with any header and a valid checksum. The second kind reaches decoding.
/// Compressed tiles must come back unchanged, or fail if a bit was flipped.
func fuzzBlock(_ input: UnsafeRawBufferPointer) {
    guard let codec else { fatalError("no codec") }
    var bytes = Bytes(input)
    let kind = bytes.byte()
    let format = formats[Int(bytes.byte()) % formats.count]
    let width = Int(bytes.byte() % 64) + 1
    let height = Int(bytes.byte() % 64) + 1
    guard let size = format.byteCount(width: width, height: height) else { return }
    let pixels = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { pixels.deallocate() }
    if kind % 3 == 2 { return roundTrip(bytes.all, codec, pixels, width, height, format, damage: kind) }
    let filter = TileFilter(rawValue: bytes.byte() % 7) ?? .none
    let planes = bytes.byte()
    let first = bytes.word()
    let payload = bytes.all
    let block = UnsafeMutableRawBufferPointer.allocate(
        byteCount: TileBlock.headerByteCount + payload.count,
        alignment: 16
    )
    defer { block.deallocate() }
    UnsafeMutableRawBufferPointer(rebasing: block[TileBlock.headerByteCount...]).copyMemory(from: payload)
    guard let start = block.baseAddress else { return }
    TileBlock(
        filter: filter,
        storedPlanes: planes,
        rawByteCount: size,
        payloadByteCount: payload.count,
        firstPixel: first
    ).seal(start, width: width, height: height, format: format)
    let whole = kind % 3 == 1 ? payload : UnsafeRawBufferPointer(block)
    try? codec.decompress(whole, into: pixels, width: width, height: height, format: format)
}

private func roundTrip(
    _ seed: UnsafeRawBufferPointer,
    _ codec: TileCodec,
    _ pixels: UnsafeMutableRawBufferPointer,
    _ width: Int,
    _ height: Int,
    _ format: TilePixelFormat,
    damage: UInt8
) {
    let tile = pixels.indices.map { seed.isEmpty ? 0 : seed[$0 % seed.count] }
    let compressed = tile.withUnsafeBytes { codec.compress($0, width: width, height: height, format: format) }
    guard case .block(let made) = compressed else { return }
    var block = Array(made)
    let isDamaged = damage & 128 != 0
    if isDamaged { block[Int(damage) * block.count / 256] ^= 1 << (damage & 7) }
    do {
        try block.withUnsafeBytes {
            try codec.decompress($0, into: pixels, width: width, height: height, format: format)
        }
        expect(!isDamaged && pixels.elementsEqual(tile), "a tile comes back as it was")
    } catch {
        expect(isDamaged, "a good block is refused: \(error)")
    }
}
