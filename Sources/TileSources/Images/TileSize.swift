import TileCache

/// Tile size of sets that do not declare one: that of most of some tiles.
///
/// One tile says nothing of the others: it may be empty, damaged, or a placeholder of another size.
struct TileSizeSamples {
    /// Tiles that are enough to tell the size of all.
    static let enough = 12
    /// Tiles that are tried for that: some of them may be no images.
    static let most = 48
    /// Of ``enough``, those of the finest zoom, which has the most tiles.
    static let ofFinestZoom = 6

    /// Tiles of each size.
    private var counts: [Int: Int] = [:]
    private var failure: TileSourceError?
    /// Tiles tried.
    private(set) var tried = 0

    /// Tiles that have a size.
    var count: Int { counts.values.reduce(0, +) }
    var isDone: Bool { count >= Self.enough || tried >= Self.most }

    /// Takes a tile's encoded bytes, at least its header.
    mutating func take(_ encoded: [UInt8], of subject: String) {
        switch Self.size(of: encoded, subject) {
        case .failure(let error): take(error.message, of: subject)
        case .success(let size):
            tried += 1
            counts[size, default: 0] += 1
        }
    }

    /// Pixels a side of an image, if it can be that of tiles.
    static func size(of encoded: [UInt8], _ subject: String) -> Result<Int, TileSourceError> {
        switch encoded.withUnsafeBytes({ TileImages.size(of: $0) }) {
        case .failure(let failure): return .failure(TileSourceError(subject, failure.message))
        case .success(let size):
            guard size.width == size.height, TileSourceOptions.tileSizes.contains(size.width) else {
                let expected = "a square tile of 16 to 4096 pixels a side was expected"
                return .failure(TileSourceError(subject, "\(expected), not \(size.width) x \(size.height)"))
            }
            return .success(size.width)
        }
    }

    /// Takes a tile that could not be read.
    mutating func take(_ message: String, of subject: String) {
        tried += 1
        if failure == nil { failure = TileSourceError(subject, message) }
    }

    /// Pixels a side of most tiles, of the larger of two sizes that are as frequent; `nil` if no tile has a size.
    var size: Int? { counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    /// Describes images that a set states to be something else, for a warning; `nil` if it states nothing.
    ///
    /// - Parameters:
    ///   - label: What the set states its tiles to be.
    ///   - path: Name of the set.
    /// - Throws: If none of the tiles is an image.
    func mislabelled(_ label: String?, _ path: String) throws(TileSourceError) -> String? {
        guard let label else { return nil }
        guard size != nil else {
            throw TileSourceError(path, "tiles of PNG, JPEG or WebP were expected, and these are \(label)")
        }
        return "its tiles are stated to be \(label), and are images"
    }

    /// The size, or the error of the first tile.
    ///
    /// - Parameter subject: Name of the set.
    func size(of subject: String) throws(TileSourceError) -> Int {
        if let size { return size }
        guard let failure else { throw TileSourceError(subject, "it has no tiles") }
        guard tried > 1 else { throw failure }
        throw TileSourceError(failure.subject, "\(failure.message); none of \(tried) tiles tried is an image of a tile")
    }

    /// Up to `count` numbers of `0..<total`, spread over it.
    static func spread(_ count: Int, over total: Int) -> [Int] {
        let count = min(count, total)
        return (0..<count).map { (2 * $0 + 1) * total / (2 * count) }
    }
}
