import Foundation
package import TileCache

/// Measures the compressed tier's codec against raw LZ4 and against copying. Tiles and run are the same.
///
/// Figures are sums of each tile's median over rounds in which both sides alternate: a slow period of the machine
/// affects both, a pause neither. Speeds are 10^6 bytes of pixels a second; filters, checks and the detection of tiles
/// of one colour are included.
package struct CodecBenchmark {
    /// A tile for measurements; figures are grouped by its class.
    package struct Tile {
        package var className: String
        package var width = 256
        package var height = 256
        package var format = TilePixelFormat.rgba8
        package var pixels: [UInt8]

        /// Whether the tile counts in the totals. Pictures do; noise, plain colours and elevation have separate lines.
        var isPicture: Bool {
            format.bytesPerPixel == 4 && format != .float32 && !className.hasPrefix("noise") && className != "flat"
        }
    }

    package struct Row: Encodable, Sendable {
        package var `class`: String
        package var ratio: Double
        package var compress: Double
        package var decompress: Double
        package var rawRatio: Double
        package var rawCompress: Double
        package var rawDecompress: Double
        /// Speed of copying the pixels.
        package var memcpy: Double
    }

    /// Figures of all picture classes together; speeds relative to raw LZ4.
    package struct Total: Encodable, Sendable {
        @Nullable package var ratio: Double?
        @Nullable package var compressToRaw: Double?
        @Nullable package var decompressToRaw: Double?
        /// Speeds relative to copying the pixels.
        @Nullable package var compressToMemcpy: Double?
        @Nullable package var decompressToMemcpy: Double?
        /// Throughput of two threads relative to one. `spin` is the same for a loop without memory, which shows whether
        /// two cores were available.
        @Nullable package var twoThreads: Scaling?
    }

    package struct Scaling: Encodable, Sendable, Hashable {
        package var compress: Double
        package var decompress: Double
        package var spin: Double
    }

    package struct Report: Encodable, Sendable {
        package var codec: [Row]
        package var codecTotal: Total
    }

    private let classes: [(name: String, tiles: [Tile])]

    package init(_ tiles: [Tile]) {
        classes = Dictionary(grouping: tiles, by: \.className).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// Reads the tiles of a directory: `class_number.rgba` and `class_number.f32`, 256 x 256 pixels without header.
    package static func tiles(inDirectory directory: String) throws -> [Tile] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw ReplayError("--tiles \(directory): a directory of tiles that can be read is expected")
        }
        let tiles: [Tile] = try names.sorted().compactMap { name in
            guard name.hasSuffix(".rgba") || name.hasSuffix(".f32") else { return nil }
            guard let data = FileManager.default.contents(atPath: directory + "/" + name) else {
                throw ReplayError("--tiles \(directory)/\(name): a file that can be read is expected")
            }
            let side = 256
            guard data.count == side * side * 4 else {
                throw ReplayError(
                    "--tiles \(directory)/\(name): a file of \(side * side * 4) bytes is expected, not of \(data.count)"
                )
            }
            let stem = name.prefix { $0 != "." }
            let className = stem.lastIndex(of: "_").map { String(stem[..<$0]) } ?? String(stem)
            let format: TilePixelFormat = name.hasSuffix(".f32") ? .float32 : .rgba8
            return Tile(className: className, width: side, height: side, format: format, pixels: [UInt8](data))
        }
        guard !tiles.isEmpty else { throw ReplayError("--tiles \(directory): .rgba or .f32 files are expected in it") }
        return tiles
    }

    /// Runs all measurements; `shouldStop` is called before each round but the first.
    package func run(rounds: Int = 25, scalingRounds: Int = 9, shouldStop: () -> Bool = { false }) throws -> Report {
        guard let largest = classes.flatMap(\.tiles).map(\.pixels.count).max() else {
            return Report(codec: [], codecTotal: Total())
        }
        var workers = try classes.map { try CodecRun(tiles: $0.tiles, maximumTileBytes: largest) }
        for round in 0..<max(rounds, 1) where round == 0 || !shouldStop() {
            for index in workers.indices { try workers[index].measure(rawFirst: round % 2 == 1) }
        }
        let rows = zip(classes, workers).map { entry, run in
            let bytes = Double(run.bytes)
            func speed(_ pass: (CodecRun.Times) -> Double) -> Double { bytes / run.seconds(pass) / 1e6 }
            return Row(
                class: entry.name,
                ratio: bytes / Double(run.storedBytes),
                compress: speed(\.compress),
                decompress: speed(\.decompress),
                rawRatio: bytes / Double(run.rawStoredBytes),
                rawCompress: speed(\.rawCompress),
                rawDecompress: speed(\.rawDecompress),
                memcpy: speed(\.copy)
            )
        }
        let pictures = zip(classes, workers).filter { entry, _ in entry.tiles.allSatisfy(\.isPicture) }
        var total = Self.total(pictures.map(\.1))
        if !pictures.isEmpty, scalingRounds > 0, !shouldStop() {
            total.twoThreads = try CodecScaling(tiles: pictures.flatMap(\.0.tiles), maximumTileBytes: largest)
                .measure(rounds: scalingRounds, shouldStop: shouldStop)
        }
        return Report(codec: rows, codecTotal: total)
    }

    private static func total(_ runs: [CodecRun]) -> Total {
        guard !runs.isEmpty else { return Total() }
        func sum(_ pass: (CodecRun.Times) -> Double) -> Double { runs.reduce(0) { $0 + $1.seconds(pass) } }
        let (compress, decompress, copy) = (sum(\.compress), sum(\.decompress), sum(\.copy))
        return Total(
            ratio: Double(runs.reduce(0) { $0 + $1.bytes }) / Double(runs.reduce(0) { $0 + $1.storedBytes }),
            compressToRaw: sum(\.rawCompress) / compress,
            decompressToRaw: sum(\.rawDecompress) / decompress,
            compressToMemcpy: copy / compress,
            decompressToMemcpy: copy / decompress
        )
    }
}
