import Foundation
import Testing

/// The layers of the library are folders. No file names a type of a higher layer.
@Suite struct ArchitectureTests {
    /// From the lowest to the highest, as in Docs/Design.md. "" is the library's top folder, for renderers.
    private static let layers = [
        "Platform", "Model", "Pressure", "Geometry", "Compression", "Stores", "Statistics", "Plan", "Pool",
        "Prefetch",
        "View", "Sources", "Service", "", "Simulation",
    ]

    /// Remaining exceptions, by the folder that names them. The list must not grow.
    private static let exceptions: [String: Set<String>] = [
        // Only their sizes: a view's share of the limit for each tile.
        "Pool": ["ComposedTile", "VisibleTile"],
        // A request answers to the core that made it.
        "Sources": ["CacheCore", "ChildLoad", "EncodedKeeper", "LoadNotes"],
        // The core creates the types that a renderer holds, and takes its settings.
        "Service": [
            "LayerOptions", "LeasedTile", "TileCache", "TileFrame", "TilePlacement", "TileViewDiagnostics",
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
        var ranks: [Substring: Int] = [:]
        var files: [File] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.library.path)
        where path.hasSuffix(".swift") {
            let layer = path.contains("/") ? String(path.prefix { $0 != "/" }) : ""
            let rank = try #require(Self.layers.firstIndex(of: layer), "\(path) is in no layer")
            var file = File(layer: layer, rank: rank)
            for line in try Self.lines(of: path) {
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

    /// Modules beside the library import nothing but what stands here.
    @Test(arguments: [
        ("TileTextures", ["TileCache"]), ("TileScroll", ["TileCache"]),
        ("TileCacheConcurrency", ["Dispatch", "TileCache"]),
    ])
    func modulesImportOnlyTheirOwn(module: String, allowed: [String]) throws {
        let folder = Self.library.deletingLastPathComponent().appending(path: module)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for line in text.split(separator: "\n") {
                guard let found = line.firstMatch(of: #/^(?:\w+ )?import (\w+)/#) else { continue }
                #expect(allowed.contains(String(found.1)), "\(module)/\(file)")
            }
        }
    }

    /// Code outside the pool calls its methods and sets none of its properties.
    @Test func onlyThePoolWritesItsProperties() throws {
        // A dot between letters is no boundary of words by default.
        let assignment = #/\bpool(\.\w+(\[[^\]]*\])?\??)+ [-+*&|]*= /#.wordBoundaryKind(.simple)
        #expect("state.pool.layers[0].jobs += 1".contains(assignment))
        var found: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.library.path)
        where path.hasSuffix(".swift") && path.contains("/") && !path.hasPrefix("Pool/") {
            for line in try Self.lines(of: path) where Self.code(line).contains(assignment) {
                found.append("\(path): \(line)")
            }
        }
        #expect(found.isEmpty)
    }

    /// What the pool consists of changes itself: only the pool calls the methods for that.
    @Test func onlyThePoolChangesItsValues() throws {
        var mutators: Set<Substring> = []
        for file in [
            "TileTable", "PoolLayers", "SlotAllocator", "PageAllocator", "Ledger", "Loads", "PlanQueue", "LayerTurns",
            "TierSplit",
        ] {
            for line in try Self.lines(of: "Pool/\(file).swift") {
                if let found = line.firstMatch(of: #/mutating func (\w+)/#) { mutators.insert(found.1) }
            }
        }
        #expect(mutators.count > 40)
        let names = "table|layers|slots|pages|ledger|loads|queue|orphans|turns|split|codecJobs|validators"
        let pattern = #"\bpool\.(?:\#(names))(?:\[[^\]]*\])?\.(\w+)"#
        let values = try Regex(pattern, as: (Substring, Substring).self).wordBoundaryKind(.simple)
        #expect("state.pool.loads.end(load)".contains(values))
        var found: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.library.path)
        where path.hasSuffix(".swift") && !path.hasPrefix("Pool/") {
            for line in try Self.lines(of: path)
            where Self.code(line).matches(of: values).contains(where: { mutators.contains($0.1) }) {
                found.append("\(path): \(line)")
            }
        }
        #expect(found.isEmpty)
    }

    /// State that all extensions of a type can write. Each further property needs an owner instead.
    @Test(
        arguments: [
            (
                "Pool/PoolState.swift", "struct PoolState",
                [
                    "codecJobs", "counters", "declared", "hasExpiries", "hold", "layers", "ledger", "loads", "orphans",
                    "pages", "queue", "slots", "split", "table", "turns", "validators",
                ]
            ),
            (
                "Service/CoreState.swift", "struct CoreState",
                [
                    "codecs", "declared", "due", "interests", "layers", "pins", "planning", "pool", "pressure",
                    "requests", "stores", "synthesis", "times", "views", "workers",
                ]
            ),
            // What they consist of keeps its state to itself.
            ("Service/Codecs.swift", "struct Codecs", []),
            ("Service/DueTimes.swift", "struct DueTimes", []),
            ("Service/Interests.swift", "struct Interests", []),
            ("Service/LevelSynthesis.swift", "struct SynthesisState", []),
            ("Service/LoadWaits.swift", "struct LoadWaits", []),
            ("Service/Pins.swift", "struct Pins", []),
            ("Service/PlanningState.swift", "struct PlanningState", []),
            ("Service/Requests.swift", "struct Requests", []),
            ("Service/SaveQueue.swift", "struct SaveQueue", []),
            ("Service/Stores.swift", "struct Stores", []),
            ("Service/WorkerRoster.swift", "struct WorkerRoster", []),
            ("Pressure/PressureRule.swift", "struct PressureRule", []),
            ("Service/Views.swift", "struct Views", []),
            ("Service/Layers.swift", "struct Layers", []),
            ("Pool/TileTable.swift", "struct TileTable", []),
            ("Pool/PoolLayers.swift", "struct PoolLayers", []),
            ("Pool/SlotAllocator.swift", "struct SlotClasses", []),
            ("Pool/Ledger.swift", "struct Ledger", []),
            ("Pool/Loads.swift", "struct Loads", []),
            ("Pool/PlanQueue.swift", "struct PlanQueue", []),
            ("Pool/PlanLanes.swift", "struct PlanLanes", []),
            ("Pool/Unmet.swift", "struct Unmet", []),
            ("Pool/PageAllocator.swift", "struct PageAllocator", []),
            ("Pool/PoolState+Tiers.swift", "struct CodecJobs", []),
            ("Pool/Leases.swift", "struct Orphans", []),
            ("Pool/TierSplit.swift", "struct TierSplit", []),
            // The default policy, and the four values that decide for it.
            ("Prefetch/AdaptivePolicy.swift", "package struct AdaptivePolicy", []),
            ("Prefetch/ViewMotion.swift", "struct ViewMotion", []),
            ("Prefetch/LearnedBins.swift", "struct LearnedBins", []),
            ("Prefetch/Visits.swift", "struct Visits", []),
            ("Prefetch/CandidateSearch.swift", "struct CandidateSearch", []),
            ("Prefetch/CandidateTable.swift", "struct CandidateTable", []),
            ("Prefetch/Judgement.swift", "struct Judgement", []),
            ("Prefetch/Fallbacks.swift", "struct Fallbacks", []),
        ] as [(String, String, [String])]
    )
    func stateHasAnOwner(path: String, type: String, writable: [String]) throws {
        let body = try Self.lines(of: path).drop { !$0.hasPrefix(type) }.dropFirst().prefix { $0 != "}" }
        let stored = body.compactMap { $0.wholeMatch(of: #/    var (\w+)[^{]*/#).map { String($0.1) } }
        #expect(body.count > 5 && stored.sorted() == writable)
    }

    /// Questions of the core have few answers, whose number must not rise: who requests a plan, who asks what a plan was
    /// refused, what a plan's progress consists of.
    @Test func questionsHaveFewAnswers() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.library.path)
        let files = paths.filter { $0.hasSuffix(".swift") }
        let lines = try files.flatMap { try Self.lines(of: $0).map(Self.code) }
        // One place decides, and these change what is wanted.
        #expect(lines.count { $0.contains("planning.queue()") } == 1)
        #expect(lines.count { $0.contains("oteDemand(") && !$0.contains("func ") } <= 18)
        #expect(lines.count { $0.contains("unmet.rank") } <= 1)
        // What takes several steps in the pool is one question to it.
        #expect(lines.count { $0.contains("state.pool.") } <= 41)
        let queue = try Self.lines(of: "Pool/PlanQueue.swift").drop { !$0.hasPrefix("struct PlanQueue") }
        #expect(queue.count { $0.contains(#/^    (private(\(set\))? )?var \w+[^{]*$/#) } <= 7)
    }

    /// The public interface does not grow unnoticed: its types, nested ones included, and all its declarations.
    @Test func thePublicInterfaceIsCounted() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.library.path)
        let lines = try paths.filter { $0.hasSuffix(".swift") }.flatMap { try Self.lines(of: $0).map(Self.code) }
        let declarations = lines.filter { $0.contains(#/^ *(@\w+ )*public (?!import)/#) }
        let types = #/public (final |indirect )?(actor|class|enum|protocol|struct|typealias) /#
        #expect(declarations.count <= 580)
        #expect(declarations.count { $0.contains(types) } <= 82)
    }

    /// A function is at most 60 lines, without empty ones.
    @Test func functionsAreShort() throws {
        let start = #/^( *)(?:@\w+ |\w+ )*(?:func|init|subscript)\b.*[{(]$/#
        var count = 0
        let sources = Self.library.appending(path: "..")
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            let lines = try Self.lines(of: "../" + path)
            for (index, line) in lines.enumerated() {
                guard let found = line.wholeMatch(of: start) else { continue }
                let length = lines[index...].firstIndex(of: found.1 + "}").map { $0 - index + 1 }
                count += 1
                #expect(length ?? 0 <= 60, "\(path): \(line)")
            }
        }
        #expect(count > 1000)
    }

    private static let library = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/TileCache")

    private static func lines(of path: String) throws -> [Substring] {
        try String(contentsOf: library.appending(path: path), encoding: .utf8).split(separator: "\n")
    }

    private static let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]

    /// A line without its comment and string literals.
    private static func code(_ line: Substring) -> String {
        let parts = line[..<(line.firstRange(of: "//")?.lowerBound ?? line.endIndex)]
            .split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.filter { $0.isMultiple(of: 2) }.map { parts[$0] }.joined(separator: " ")
    }
}
