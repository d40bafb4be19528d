import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A folder that is removed with the test.
final class ScratchFolder {
    let path: String

    init() {
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(root)/tilesources-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template))
    }

    deinit { _ = system("rm -rf '\(path)'") }

    /// Writes a file and its folders.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String) -> String {
        let full = "\(path)/\(name)"
        // Its own folder is there.
        for index in name.indices where name[index] == "/" { mkdir("\(path)/\(name[..<index])", 0o755) }
        let file = fopen(full, "wb")
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        return full
    }
}

/// A tile as a cache would request it.
struct LoadedTile {
    var outcome: TileOutcome
    var image: TestImage
}

/// Lends memory for one tile of a source's pyramid, and returns its contents.
private func withPixels(
    _ source: any PyramidTileSource,
    _ tile: TileCoordinate,
    _ body: (inout TilePixels) throws -> TileOutcome
) throws -> LoadedTile {
    let level = source.pyramid.levels[tile.level]
    let format = source.layerOptions.format
    let count = format.byteCount(width: level.tileWidth, height: level.tileHeight) ?? 0
    // Initial bytes, so that unwritten ones are detected.
    var bytes = [UInt8](repeating: 0xA5, count: count)
    let outcome = try bytes.withUnsafeMutableBytes { memory in
        var pixels = TilePixels(
            memory: memory,
            width: level.tileWidth,
            height: level.tileHeight,
            format: format,
            alpha: source.layerOptions.alpha
        )
        return try body(&pixels)
    }
    return LoadedTile(
        outcome: outcome,
        image: TestImage(width: level.tileWidth, height: level.tileHeight, pixels: bytes)
    )
}

extension PyramidTileSource where Self: TileDecoder {
    /// Decodes bytes as this tile.
    func decoded(_ encoded: [UInt8], of tile: TileCoordinate) throws -> LoadedTile {
        try withPixels(self, tile) { pixels in
            let failure = encoded.withUnsafeBytes { bytes -> TileFailure? in
                do throws(TileFailure) { try decode(bytes, of: tile, into: &pixels) } catch { return error }
                return nil
            }
            if let failure { throw failure }
            return .pixels
        }
    }
}

extension PyramidTileSource where Self: BlockingTileSource {
    func loaded(_ tile: TileCoordinate) throws -> LoadedTile {
        try withPixels(self, tile) { try load(tile, into: &$0) }
    }

    func loaded(_ level: Int, _ column: Int, _ row: Int) throws -> LoadedTile {
        try loaded(TileCoordinate(level: level, column: column, row: row))
    }
}

/// Elements that several threads add, in order.
///
/// Copies have storage of their own: ThreadSanitizer does not see the reference counts that make shared storage safe.
final class Record<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])

    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0.map { $0 } } }
    var count: Int { elements.withLock { $0.count } }
}

/// Waits until a condition holds. The bound, ten minutes at least, only ends a run that hangs.
func settled(_ condition: () -> Bool) -> Bool {
    for _ in 0..<600_000 {
        if condition() { return true }
        usleep(1000)
    }
    return false
}

extension PMTilesTileSource {
    func loaded(_ level: Int, _ column: Int, _ row: Int) throws -> LoadedTile {
        let tile = TileCoordinate(level: level, column: column, row: row)
        return try withPixels(self, tile) { try load(tile, into: &$0) }
    }
}

extension TIFFTileSource {
    /// The levels of the file, without those that a cache makes.
    var fileLevels: [PyramidLevel] { Array(pyramid.levels.dropFirst(layerOptions.synthesizedLevels)) }

    /// A tile of a level of the file.
    func place(_ level: Int, _ column: Int, _ row: Int) -> TileCoordinate {
        TileCoordinate(level: level + layerOptions.synthesizedLevels, column: column, row: row)
    }

    func loaded(_ level: Int, _ column: Int, _ row: Int) throws -> LoadedTile {
        let tile = place(level, column, row)
        return try withPixels(self, tile) { try load(tile, into: &$0) }
    }

    /// A level's image as it is drawn: the last pixels are repeated where the world does not end with them.
    func drawn(_ image: TestImage, _ level: Int) -> TestImage {
        let scale = fileLevels[level].worldPixelsPerPixel
        return image.extended(
            width: Int((pyramid.worldWidth / scale - 1e-6).rounded(.up)),
            height: Int((pyramid.worldHeight / scale - 1e-6).rounded(.up))
        )
    }

    /// Compares all tiles of a level with an image. Outside of what is drawn there is nothing.
    func expect(_ level: Int, _ image: TestImage, within limit: Int = 0) throws {
        let extent = fileLevels[level]
        #expect(extent.width == image.width && extent.height == image.height)
        let image = drawn(image, level)
        for column in 0..<extent.columns {
            for row in 0..<extent.rows {
                let tile = try loaded(level, column, row)
                let (width, height) = (extent.tileWidth, extent.tileHeight)
                let part = image.part(x: column * width, y: row * height, width: width, height: height)
                let most = tile.image.pixels.greatestDifference(from: part.pixels)
                #expect(tile.outcome == .pixels && most <= limit, "tile \(column), \(row) of \(level)")
            }
        }
    }
}

extension TestImage {
    /// The image with its last column and row repeated up to a size, or as it is if it is larger.
    func extended(width wide: Int, height high: Int) -> TestImage {
        var rows = (0..<height).map { row in
            let start = row * width * 4
            let last = pixels[start + (width - 1) * 4..<start + width * 4]
            return pixels[start..<start + width * 4] + repeatElement(last, count: max(wide - width, 0)).joined()
        }
        rows += repeatElement(rows[height - 1], count: max(high - height, 0))
        return TestImage(width: max(width, wide), height: max(height, high), pixels: Array(rows.joined()))
    }
}
