import Foundation

@testable import TileCache
@testable import TileSources

/// A descriptor up to the first zero byte, then an image of its tiles.
func fuzzDeepZoom(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let draw = bytes.byte()
    let parts = bytes.all.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let descriptor = parts.first else { return }
    // One set has a folder for each level, one only for the first few.
    let path = scratchFolders[draw & 8 == 0 ? 0 : 1] + "/image.dzi"
    write(Array(descriptor), to: path)
    guard let source = try? DeepZoomTileSource(path: path, options: sourceOptions(draw)) else { return }
    source.expectPyramid()
    let levels = source.pyramid.levels
    expect(levels[0].columns == 1 && levels[0].rows == 1 || draw & 8 != 0, "level 0 is one tile")
    expect(source.overlap >= 0, "overlap \(source.overlap)")
    let image = parts.count > 1 ? Array(parts[1]) : []
    for tile in source.corners {
        let outcome = loadTwice(source, tile) { try source.load(tile, into: &$0) }
        expect(outcome == nil || outcome == .absent, "there is no tile \(tile)")
        loadTwice(source, tile) { pixels in
            let failure = image.withUnsafeBytes { bytes -> TileFailure? in
                do throws(TileFailure) { try source.decode(bytes, of: tile, into: &pixels) } catch { return error }
                return nil
            }
            if let failure { throw failure }
            return .pixels
        }
    }
}

private let scratchFolders: [String] = [30, 5].map { last in
    let folder = "\(scratchRoot)/dzi-\(ProcessInfo.processInfo.processIdentifier)-\(last)"
    for level in 0...last {
        try? FileManager.default.createDirectory(
            atPath: "\(folder)/image_files/\(level)",
            withIntermediateDirectories: true
        )
    }
    return folder
}
