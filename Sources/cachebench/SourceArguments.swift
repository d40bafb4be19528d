import ArgumentParser
import CacheBenchKit
import Foundation
import PanTraces
import TileCache
import TileSources

/// Default maximum zoom of an http: source.
private let usualZoom = 9

/// Flags for a source of tiles.
struct SourceArguments: ParsableArguments {
    @Option(
        "Load tiles from a source, in real time: \(TileSourceAddress.forms). The world is the source's.",
        OptionValue { text in
            if let address = TileSourceAddress(text) { return address }
            let meant = Self.kind(of: text).map { "; did you mean \($0):\(text)?" } ?? "."
            throw ValidationError("Expected \(TileSourceAddress.forms)\(meant)")
        }
    )
    var source: TileSourceAddress?

    @Option("Deepest zoom of an http: source; other sources know theirs.", .whole(0...30), default: "\(usualZoom)")
    var maximumZoom: Int?

    @Option(
        "Where row 0 of a --source mbtiles: is, top or bottom. Default: bottom, as the format says, unless its bounds tell.",
        OptionValue { text in
            switch text {
            case "top": return .fromTop
            case "bottom": return .fromBottom
            default: throw ValidationError("Expected top or bottom.")
            }
        }
    )
    var rows: TileRowOrder?

    @Option(
        "Degrees west,south,east,north that an http: source has tiles of; other sources know theirs. Default: all.",
        OptionValue { text in
            let sides = text.split(separator: ",").compactMap { Double($0) }
            guard sides.count == 4, text.split(separator: ",", omittingEmptySubsequences: false).count == 4 else {
                throw ValidationError("Expected four numbers WEST,SOUTH,EAST,NORTH in degrees.")
            }
            return MapBounds(west: sides[0], south: sides[1], east: sides[2], north: sides[3])
        }
    )
    var bounds: MapBounds?

    @Option(
        "Maximum memory to cut a large image: source, or a tiff: in strips, into tiles.",
        .bytes("bytes with a unit (512MiB, 2GiB)"),
        default: MemoryLimit.bytes(ImageTileOptions().memoryLimit.bytes).description
    )
    var imageMemoryLimit: Int?

    /// The source's file or folder, if it is one.
    var files: [String] {
        switch source {
        case .mbtiles(let path, _)?, .pmtiles(let path)?, .tiff(let path, _)?, .image(let path)?, .folder(let path, _)?,
            .geoPackage(let path, _)?, .tileJSON(let path)?, .zoomify(let path)?:
            [path]
        case .deepZoom(let path)?: [path, (path as NSString).deletingPathExtension + "_files"]
        default: []
        }
    }

    func validate(clock: ReplayClock?, latency: LoadLatency) throws {
        // Flags that would have no effect are refused.
        if imageMemoryLimit != nil {
            switch source {
            case .image?, .tiff?: break
            default: throw ValidationError("--image-memory-limit is for cutting a --source image: or tiff:")
            }
        }
        if maximumZoom != nil {
            guard case .http? = source else { throw ValidationError("--maximum-zoom is for a --source http:") }
        }
        if rows != nil {
            guard case .mbtiles(_, let own)? = source else {
                throw ValidationError("--rows is for a --source mbtiles:")
            }
            if let own, own != rows {
                throw ValidationError("--rows and the address of the --source name different orders of rows")
            }
        }
        if bounds != nil {
            guard case .http? = source else { throw ValidationError("--bounds is for a --source http:") }
        }
        guard source != nil else { return }
        if clock == .virtual {
            throw ValidationError("--source needs --clock real: under the virtual clock nothing is loaded")
        }
        if case .fixed = latency {
            throw ValidationError("--load-latency is for the built-in world: a --source takes its own time")
        }
    }

    /// Opens the source; `nil` for the built-in world. Only before `Interruption.watch()` does Ctrl-C end the program
    /// while a server does not answer or an image is cut.
    ///
    /// - Parameter encoded: Whether the source passes its encoded bytes.
    func open(tileSize: Int?, format: TilePixelFormat, encoded: Bool) throws -> ReplaySource? {
        guard var source else { return nil }
        if case .mbtiles(let path, nil) = source { source = .mbtiles(path, rows: rows) }
        let opened = try open(source, TileSourceOptions(format: format, keepsEncoded: encoded, tileSize: tileSize))
        if let warning = opened.warning { writeToStandardError("cachebench: \(warning.withoutPasswords)\n") }
        var isTemplate: Bool { if case .http = source { true } else { false } }
        return ReplaySource(
            address: source.description.withoutPasswords,
            maximumZoom: isTemplate ? maximumZoom ?? usualZoom : nil,
            imageMemoryLimit: imageMemoryLimit,
            pyramid: opened.pyramid,
            contents: opened.contents,
            addLayer: { try opened.addLayer(to: $0, pyramid: $1, stores: $2) },
            counts: { ReplaySourceCounts(opened.statistics) },
            warning: { opened.warning?.withoutPasswords }
        )
    }
}

extension SourceArguments {
    private func open(_ address: TileSourceAddress, _ options: TileSourceOptions) throws -> any PyramidTileSource {
        let progress = Progress()
        defer { progress.end() }
        return try address.open(
            options,
            http: HTTPTileOptions(zooms: 0...(maximumZoom ?? usualZoom), bounds: bounds),
            image: ImageTileOptions(
                memoryLimit: imageMemoryLimit.map { .bytes($0) } ?? ImageTileOptions().memoryLimit
            ),
            progress: { part in
                progress.reached(part, "cutting the image")
                return true
            }
        )
    }

    /// Suggests the kind of source for a path without one.
    private static func kind(of path: String) -> String? {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return "xyz" }
        let kinds = [
            "mbtiles": "mbtiles", "sqlitedb": "sqlitedb", "gpkg": "gpkg", "pmtiles": "pmtiles", "dzi": "dzi",
            "png": "image", "jpg": "image", "jpeg": "image",
            "webp": "image", "tif": "tiff", "tiff": "tiff", "svs": "tiff",
        ]
        return kinds[URL(fileURLWithPath: path).pathExtension.lowercased()]
    }
}

extension ReplaySourceCounts {
    /// Converts a source's counts to those of the report.
    init(_ statistics: TileSourceStatistics) {
        self.init()
        loads = statistics.loads
        absent = statistics.absent
        failures = Dictionary(uniqueKeysWithValues: statistics.failures.map { ($0.key.rawValue, $0.value) })
        lastFailure = statistics.lastFailure
        attempts = statistics.attempts
        retries = statistics.retries
        postponed = statistics.postponed
        notModified = statistics.notModified
        cancelled = statistics.cancelled
        connections = statistics.connections
        streams = statistics.streams
        cutOff = statistics.cutOff
        cancelledBytes = statistics.cancelledBytes.bytes
    }
}
