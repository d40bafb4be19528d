@testable import TileCache
@testable import TileSources

/// A PMTiles archive: the input itself, or one whose header is right and whose parts are the input's.
func fuzzPMTiles(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let draw = bytes.byte()
    var file: [UInt8]
    if draw & 8 == 0 {
        var parts = (0..<3).map { _ in
            let count = Int(bytes.byte())
            return bytes.take(count)
        }
        parts.append(Array(bytes.all))
        file = Array("PMTiles".utf8) + [3] + [UInt8](repeating: 0, count: 119)
        // Compression as the input has it; tiles of PNG, zooms 0 to 3.
        (file[97], file[98], file[99], file[101]) = (draw & 32 == 0 ? 1 : 2, draw & 64 == 0 ? 1 : 2, 2, 3)
        var offset = file.count
        for (index, part) in parts.enumerated() {
            for byte in 0..<8 {
                file[8 + 16 * index + byte] = UInt8(truncatingIfNeeded: offset >> (8 * byte))
                file[16 + 16 * index + byte] = UInt8(truncatingIfNeeded: part.count >> (8 * byte))
            }
            offset += part.count
        }
        file += parts.flatMap { $0 }
    } else {
        file = Array(bytes.all)
    }
    var options = sourceOptions(draw)
    if draw & 16 != 0 { options.tileSize = 16 }
    guard let source = try? PMTilesTileSource(scratchFile(file), options: options) else { return }
    source.expectPyramid()
    expect(source.pyramid.levels.count == source.zooms.count, "levels of zooms \(source.zooms)")
    for tile in source.corners.prefix(8) { loadTwice(source, tile) { try source.load(tile, into: &$0) } }
    let statistics = source.statistics
    expect(statistics.directoryMemory <= .mebibytes(32), "\(statistics.directoryMemory) of directories")
}

/// A TIFF file. The first byte's highest bits choose what is drawn of it.
func fuzzTIFF(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let draw = bytes.byte()
    let path = scratchFile(Array(bytes.all))
    let choices = [
        TIFFTileOptions(), TIFFTileOptions(page: 2), TIFFTileOptions(series: 2), TIFFTileOptions(bands: [2]),
        TIFFTileOptions(bands: [3, 1, 2]), TIFFTileOptions(range: 10...20), TIFFTileOptions(synthesizedLevels: 0),
    ]
    let tiff = choices[Int(draw >> 5) % choices.count]
    guard let source = try? TIFFTileSource(path, tiff: tiff, options: sourceOptions(draw)) else {
        // One in strips is cut, with little memory and disk.
        let image = ImageTileOptions(memoryLimit: .mebibytes(4), diskLimit: .mebibytes(4))
        _ = try? TileSourceAddress.tiff(path, tiff).open(sourceOptions(draw), image: image)
        return
    }
    source.expectPyramid()
    // Those that the cache makes are not asked for.
    let own = source.corners.filter { $0.level >= source.layerOptions.synthesizedLevels }
    for tile in own.prefix(8) { loadTwice(source, tile) { try source.load(tile, into: &$0) } }
    let statistics = source.statistics
    expect(statistics.directoryMemory <= .mebibytes(64), "\(statistics.directoryMemory) of directories")
}
