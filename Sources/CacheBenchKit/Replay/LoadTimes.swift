import PanTraces
import TileCache

/// Model of load times, beside `ReplayOptions.loadLatency`.
package enum LoadTimes: Hashable, Sendable, CustomStringConvertible {
    case constant
    /// Log-normal with the latency as its median. Each tile's time follows from the seed and the tile alone. `sigma` is
    /// the standard deviation of the natural logarithm, 0.001 to 3.
    case longTail(sigma: Double)
    /// A link that all loads share, in decoded bytes a second. A tile's bytes arrive after the latency.
    case bandwidth(Double)
    /// Recorded for each tile in a file of lines `level,column,row,milliseconds`; other tiles take the latency.
    case file(String)

    /// Default sigma. One load in twenty takes more than five times the median, one in a hundred more than ten times.
    package static let usualSigma = 1.0

    /// Parses `constant`, `longtail`, `longtail:0.5`, `bandwidth:10MB`, `file:PATH`; `nil` for other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count > 1 ? parts[1] : nil) {
        case ("constant", nil): self = .constant
        case ("longtail", nil): self = .longTail(sigma: Self.usualSigma)
        case ("longtail", let value?):
            guard let sigma = QuantityText.number(value, suffix: ""), sigma >= 0.001, sigma <= 3 else { return nil }
            self = .longTail(sigma: sigma)
        case ("bandwidth", let value?):
            guard let bytes = QuantityText.bytes(value), bytes > 0 else { return nil }
            self = .bandwidth(Double(bytes))
        case ("file", let path?):
            guard !path.isEmpty else { return nil }
            self = .file(path)
        default: return nil
        }
    }

    /// Reads the file, if there is one.
    package func check() throws(ReplayError) {
        if case .file(let path) = self { _ = try RecordedLoadTimes.read(path) }
    }

    package var description: String {
        switch self {
        case .constant: "constant"
        case .longTail(let sigma): sigma == Self.usualSigma ? "longtail" : "longtail:\(sigma)"
        case .bandwidth(let bytes): "bandwidth:\(Int(bytes))B"
        case .file(let path): "file:\(path)"
        }
    }
}

/// Load times with their file read.
struct LoadClock: Sendable {
    /// Nanoseconds: of all loads, of the median one, or of tiles without a recorded time.
    let latency: Int64
    /// Bytes a second that all loads share after their latency.
    private(set) var bandwidth: Double?
    /// Nanoseconds by tile; `nil` if all are equal.
    private(set) var timeOfTile: (@Sendable (TileCoordinate) -> Int64)?

    /// - Parameter latency: Nanoseconds of every load.
    init(latency: Int64) { self.latency = latency }

    init(_ options: ReplayOptions) throws(ReplayError) {
        let latency = options.loadLatency ?? 0
        self.latency = latency
        switch options.loadTimes {
        case .constant: break
        case .longTail(let sigma):
            let seed = options.seed
            timeOfTile = { Self.longTail($0, seed: seed, median: latency, sigma: sigma) }
        case .bandwidth(let bytes): bandwidth = bytes
        case .file(let path):
            let times = try RecordedLoadTimes.read(path)
            timeOfTile = { times[$0] ?? latency }
        }
    }

    /// Nanoseconds from the start of a load to its end, or to its first byte.
    func time(of tile: TileCoordinate) -> Int64 { timeOfTile?(tile) ?? latency }

    /// Bound of the tail: no load takes more than a thousand times the median.
    static let longest = 1000.0

    /// Log-normal time of random numbers hashed from seed and tile.
    private static func longTail(_ tile: TileCoordinate, seed: UInt64, median: Int64, sigma: Double) -> Int64 {
        var hash = SplitMix64.mixed(seed &+ 0x9E37_79B9_7F4A_7C15)
        for part in [tile.level, tile.column, tile.row] {
            hash = SplitMix64.mixed(hash ^ UInt64(bitPattern: Int64(part)) &* 0xD6E8_FEB8_6659_FD93)
        }
        var dice = SplitMix64(seed: hash)
        let factor = min(PortableMath.exp(sigma * dice.normal()), longest)
        let time = (Double(median) * factor).rounded()
        return time < 0x1p62 ? Int64(time) : Int64(1) << 62
    }
}

/// A file of load times: a line `level,column,row,milliseconds` for each tile. Ignores lines that begin with `#`, and a
/// first line of these column names.
enum RecordedLoadTimes {
    /// An hour: a longer time probably has the wrong unit.
    static let longestMilliseconds = 3_600_000.0

    static func read(_ path: String) throws(ReplayError) -> [TileCoordinate: Int64] {
        do {
            return try read(LineReader(path: path))
        } catch {
            // Of the reader or of the lines: each names the file.
            throw ReplayError("\(error)")
        }
    }

    static func read(_ lines: LineReader) throws -> [TileCoordinate: Int64] {
        var times: [TileCoordinate: Int64] = [:]
        var isFirst = true
        while let bytes = try lines.next() {
            let line = String(decoding: bytes, as: UTF8.self)
            if line.isEmpty || line.hasPrefix("#") { continue }
            defer { isFirst = false }
            if isFirst, line == "level,column,row,milliseconds" { continue }
            func fail(_ expected: String) -> ReplayError {
                ReplayError(
                    "\(lines.name):\(lines.lineNumber): expected \(expected), found \(PanTraceError.quoted(bytes))"
                )
            }
            let parts = line.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 4 else { throw fail("level,column,row,milliseconds") }
            let place = parts.prefix(3).compactMap { Int($0) }
            guard place.count == 3, place.allSatisfy({ (0...Int(Int32.max)).contains($0) }) else {
                throw fail("a level, a column and a row, whole numbers from 0")
            }
            guard let time = QuantityText.number(String(parts[3]), suffix: ""), time <= longestMilliseconds else {
                throw fail("a time in milliseconds, from 0 to 3600000")
            }
            let tile = TileCoordinate(level: place[0], column: place[1], row: place[2])
            guard times.updateValue(Int64((time * 1e6).rounded()), forKey: tile) == nil else {
                throw fail("each tile once")
            }
        }
        try require(!times.isEmpty, "\(lines.name): expected lines of level,column,row,milliseconds, found none")
        return times
    }
}
