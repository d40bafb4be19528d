import Foundation
import Testing

/// The layers of the library are folders: no file names a type of a higher layer.
@Suite struct ArchitectureTests {
    /// From the lowest to the highest, as in Docs/Design.md. "" is the library's top folder, for renderers.
    private static let layers = [
        "Platform", "Model", "Pressure", "Geometry", "Compression", "Stores", "Trace", "Statistics", "Plan", "Pool",
        "Prefetch",
        "View", "Sources", "Service", "", "Simulation",
    ]

    /// Remaining exceptions, by the folder that names them. The list must not grow.
    private static let exceptions: [String: Set<String>] = [
        // Only its levels of pressure.
        "Pressure": ["MemoryPressureMonitor"],
        // Only their sizes: a view's share of the limit for each tile.
        "Pool": ["ComposedTile", "TileIdentity", "VisibleTile"],
        // A request answers to the core that made it.
        "Sources": ["CacheCore", "ChildLoad", "EncodedKeeper", "LoadNotes"],
        // The core creates the types that a renderer holds, and takes its settings.
        "Service": [
            "LayerOptions", "LeaseHold", "LeasedTile", "TilePlacement", "TileCache", "TileFrame", "TileIdentity",
            "TileViewDiagnostics", "UnavailableTile",
        ],
    ]

    private struct File {
        var layer: String
        var rank: Int
        /// All identifiers in its code, and the types that it declares, nested ones included.
        var words: Set<Substring> = []
        var own: Set<Substring> = []
    }

    @Test func noFileNamesATypeOfAHigherLayer() throws {
        let library = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/TileCache")
        var ranks: [Substring: Int] = [:]
        var files: [File] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: library.path) where path.hasSuffix(".swift") {
            let layer = path.contains("/") ? String(path.prefix { $0 != "/" }) : ""
            let rank = try #require(Self.layers.firstIndex(of: layer), "\(path) is in no layer")
            var file = File(layer: layer, rank: rank)
            for line in try String(contentsOf: library.appending(path: path), encoding: .utf8).split(separator: "\n") {
                let words = Self.code(line).split { !($0.isLetter || $0.isNumber || $0 == "_") }
                file.words.formUnion(words)
                for (keyword, name) in zip(words, words.dropFirst()) where Self.keywords.contains(keyword) {
                    file.own.insert(name)
                    if line.first != " ", words[0] != "private" { ranks[name] = rank }
                }
            }
            files.append(file)
        }
        #expect(ranks.count > 100)
        var found: [String: Set<String>] = [:]
        for file in files {
            let higher = file.words.subtracting(file.own).filter { ranks[$0, default: 0] > file.rank }
            if !higher.isEmpty { found[file.layer, default: []].formUnion(higher.map(String.init)) }
        }
        #expect(found == Self.exceptions)
    }

    /// Code outside the pool calls its methods and sets none of its properties.
    @Test func onlyThePoolWritesItsProperties() throws {
        let library = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/TileCache")
        var found: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: library.path)
        where path.hasSuffix(".swift") && path.contains("/") && !path.hasPrefix("Pool/") {
            for line in try String(contentsOf: library.appending(path: path), encoding: .utf8).split(separator: "\n")
            where Self.code(line).contains(#/\bpool(\.\w+(\[[^\]]*\])?\??)+ [-+*&|]*= /#) {
                found.append("\(path): \(line)")
            }
        }
        #expect(found.isEmpty)
    }

    private static let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]

    /// A line without its comment and string literals.
    private static func code(_ line: Substring) -> String {
        let parts = line[..<(line.firstRange(of: "//")?.lowerBound ?? line.endIndex)]
            .split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.filter { $0.isMultiple(of: 2) }.map { parts[$0] }.joined(separator: " ")
    }
}
