@testable import TileCache
@testable import TileSources

/// Images as tiles, or one large image that is cut. PNG chunks get valid checksums, so that the decoder behind them is
/// reached.
func fuzzImages(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let draw = bytes.byte()
    let options = sourceOptions(draw)
    var image = Array(bytes.all)
    if draw & 8 == 0 { sealPNG(&image) }
    if draw & 128 != 0 { return cut(image, options, draw) }
    guard case .success(let size) = image.withUnsafeBytes({ TileImages.size(of: $0) }) else { return }
    expect(size.width > 0 && size.height > 0, "an image of \(size)")
    guard size.width * size.height <= 1 << 18 else { return }
    var place = ImagePlacement(
        imageWidth: size.width,
        imageHeight: size.height,
        x: 0,
        y: 0,
        width: size.width,
        height: size.height
    )
    if draw & 16 != 0 {
        // Decodes a part at the corner of a larger tile, as with the overlap of a Deep Zoom image.
        (place.x, place.y) = (size.width / 3, size.height / 4)
        (place.width, place.height) = ((size.width + 2) / 3, (size.height + 1) / 2)
    }
    if draw & 32 != 0 { place.imageWidth += 1 }
    let images = TileImages(options)
    let count = size.width * size.height * (options.format.bytesPerPixel ?? 4)
    let decoded = [UInt8(0xA5), 0x5A].map { filling -> [UInt8] in
        var tile = [UInt8](repeating: filling, count: count)
        let isDecoded = tile.withUnsafeMutableBytes { memory in
            var pixels = TilePixels(
                memory: memory,
                width: size.width,
                height: size.height,
                format: options.format,
                alpha: options.alpha
            )
            return image.withUnsafeBytes { (try? images.decode($0, place, into: &pixels)) != nil }
        }
        return isDecoded ? tile : []
    }
    expect(decoded[0] == decoded[1], "all of a tile is written")
    expect(draw & 32 == 0 || decoded[0].isEmpty, "an image of another size is refused")
}

private func cut(_ image: [UInt8], _ options: TileSourceOptions, _ draw: UInt8) {
    let path = scratchFile(image)
    var (options, cutting) = (options, ImageTileOptions(memoryLimit: .mebibytes(8), diskLimit: .mebibytes(4)))
    options.tileSize = draw & 64 == 0 ? 16 : 64
    cutting.downsampling = draw & 16 == 0 ? .linear : .sRGB
    guard let source = try? ImageTileSource(path: path, image: cutting, options: options) else { return }
    expect(source.cuttingMemory <= cutting.memoryLimit && source.diskUse <= cutting.diskLimit, "limits")
    source.expectPyramid()
    for tile in source.corners {
        expect(loadTwice(source, tile) { try source.load(tile, into: &$0) } == .pixels, "\(tile) is there")
    }
}

/// Writes a valid checksum behind each chunk of a PNG.
private func sealPNG(_ image: inout [UInt8]) {
    guard image.count > 8, image[0] == 0x89 else { return }
    var start = 8
    while start + 12 <= image.count {
        let length = image[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        let end = start + 8 + length
        guard end + 4 <= image.count else { return }
        var checksum = image[start + 4..<end].reduce(~UInt32(0)) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        checksum = ~checksum
        for index in 0..<4 { image[end + index] = UInt8(truncatingIfNeeded: checksum >> (24 - 8 * index)) }
        start = end + 4
    }
}
