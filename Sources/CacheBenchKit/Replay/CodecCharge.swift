import DemoWorld
import PanTraces
import TileCache

/// Virtual time charged for compression and decompression.
package enum CodecCharge: Hashable, Sendable, CustomStringConvertible {
    case none
    /// Speed of this machine's codec on tiles of the built-in world, measured once per program.
    case measured
    /// Decoded bytes a second that one core compresses and decompresses.
    case rates(compress: Double, decompress: Double)

    /// Parses `none`, `measured`, `compress=900MB,decompress=2.5GB` (decoded bytes a second); `nil` for other text.
    package init?(_ text: String) {
        switch text {
        case "none": self = .none
        case "measured": self = .measured
        default:
            var rates: [String: Double] = [:]
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let words = part.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
                guard words.count == 2, let bytes = QuantityText.bytes(words[1]), bytes > 0,
                    rates.updateValue(Double(bytes), forKey: words[0]) == nil
                else { return nil }
            }
            guard rates.count == 2, let compress = rates["compress"], let decompress = rates["decompress"] else {
                return nil
            }
            self = .rates(compress: compress, decompress: decompress)
        }
    }

    package var description: String {
        switch self {
        case .none: "none"
        case .measured: "measured"
        case .rates(let compress, let decompress): "compress=\(Int(compress))B,decompress=\(Int(decompress))B"
        }
    }

    /// The charge with known rates, so that figures can be reproduced elsewhere.
    package func resolved() throws(ReplayError) -> CodecCharge {
        guard self == .measured else { return self }
        do {
            return try Self.measure()
        } catch {
            throw ReplayError("--cost measured: \(error)")
        }
    }

    var cost: CodecCost? {
        guard case .rates(let compress, let decompress) = self else { return nil }
        return CodecCost(compressBytesPerSecond: compress, decompressBytesPerSecond: decompress)
    }

    /// Best of several rounds, rounded to 10 MB a second. Other work only slows them down.
    private static func measure() throws -> CodecCharge {
        let world = try DemoTileSource(worldWidth: 1 << 16, worldHeight: 1 << 16, tileSize: 256, seed: 1)
        let tiles = world.samples(count: 16).map { CodecBenchmark.Tile(className: "built-in", pixels: $0) }
        var run = try CodecRun(tiles: tiles, maximumTileBytes: 256 * 256 * 4)
        for _ in 0..<5 { try run.measure(rawFirst: false) }
        let bytes = Double(run.bytes)
        func rate(_ seconds: Double) -> Double { max((bytes / seconds / 1e7).rounded(), 1) * 1e7 }
        return .rates(
            compress: rate(run.seconds(\.compress) { $0.min() ?? 1 }),
            decompress: rate(run.seconds(\.decompress) { $0.min() ?? 1 })
        )
    }
}
