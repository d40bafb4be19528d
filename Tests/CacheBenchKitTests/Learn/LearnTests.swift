import Foundation
import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Profiles in replays: what is learned from which traces, and what a profile changes.
@Suite(.timeLimit(.minutes(45))) struct LearnTests {
    private static var options: ReplayOptions {
        var options = ReplayOptions()
        options.memoryLimit = .screens(4)
        return options
    }

    /// A large file that was named by mistake is not read into memory. Nor is one that a link leads to.
    @Test func aFileLargerThanAnyProfileIsNotRead() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("learn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, link) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("link"))
        try Data(count: PrefetchProfile.maximumBytes + 1).write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        for path in [file.path, link.path] {
            let error = #expect(throws: ReplayError.self) { try ReplayProfile.file(path).resolved() }
            #expect(error.map { "\($0)".contains("at most \(PrefetchProfile.maximumBytes) bytes") } == true)
        }
    }

    /// A folder of traces by source; removed at the end.
    private final class Traces {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("learn-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Writes a trace and returns its path.
        func add(_ kind: GeneratedSession.Kind, seed: UInt64, to name: String) throws -> String {
            var lines = [
                "# pan-trace: 1", "# viewport: 700x500", "# world: 131072x131072", "# tile_size: 256",
                "time_s,center_x,center_y,scale",
            ]
            for sample in GeneratedSession(kind, width: 700, height: 500, seconds: 20, seed: seed).samples {
                let (time, center) = (Double(sample.time) / 1e9, sample.center)
                lines.append("\(time),\(center.x),\(center.y),\(sample.scale)")
            }
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
    }

    private func learned(_ paths: String...) throws -> PrefetchProfile {
        try #require(try Learn(Self.options).profile(of: paths))
    }

    private func leavingOneOut(_ paths: [String]) throws -> [String: PrefetchProfile] {
        try #require(
            try Learn(Self.options).leavingOneOut(of: paths, shouldStop: { false }, progress: { _, _ in })
        )
    }

    /// The report as JSON. A profile is named in the configuration only, which is left out.
    private func json(_ path: String, _ change: (inout ReplayOptions) -> Void) throws -> String {
        var options = Self.options
        change(&options)
        let replayed = options
        let result = try Replay(options).run([{ try ReplayInput(path: path, options: replayed) }])
        return try JSONText.of(result).split(separator: "\n").filter { !$0.contains("\"profile\" :") }
            .joined(separator: "\n")
    }

    // MARK: - What a profile changes

    @Test(arguments: [GeneratedSession.Kind.flings, .slide, .camera, .wheel])
    func anEmptyProfileChangesNoDecision(kind: GeneratedSession.Kind) throws {
        let traces = Traces()
        let path = try traces.add(kind, seed: 1, to: "a/one.csv")
        let without = try json(path) { _ in }
        #expect(try json(path) { $0.profile = .learned(PrefetchProfile()) } == without)
        #expect(try json(path) { $0.profile = .learned(PrefetchProfile().withoutPlaces) } == without)
        // Nor one of two sessions, or without places. One of three does, unless the effect is off.
        let young = try learned(path, path)
        #expect(try json(path) { $0.profile = .learned(young) } == without)
        let rich = try learned(path, path, path, path, path, path)
        #expect(try json(path) { $0.profile = .learned(rich.withoutPlaces) } == without)
        // Flings need every load for what shows, and come to no place twice.
        if kind != .flings { #expect(try json(path) { $0.profile = .learned(rich) } != without) }
        let off = try json(path) { $0.without = .profile }
        #expect(
            try json(path) {
                $0.profile = .learned(rich)
                $0.without = .profile
            } == off
        )
    }

    /// Other policies have no use for it.
    @Test func aProfileIsForTheLibrarysPolicyAlone() throws {
        let traces = Traces()
        let path = try traces.add(.slide, seed: 1, to: "a/one.csv")
        let rich = try learned(path)
        for kind in [PrefetchKind.none, .skewport] {
            let without = try json(path) { $0.prefetch = kind }
            let with = try json(path) {
                $0.prefetch = kind
                $0.profile = .learned(rich)
            }
            #expect(with == without)
        }
    }

    // MARK: - What is learned

    @Test func eachTraceIsASession() throws {
        let traces = Traces()
        let (one, two) = (
            try traces.add(.flings, seed: 1, to: "a/1.csv"), try traces.add(.flings, seed: 2, to: "a/2.csv")
        )
        #expect(try learned() == PrefetchProfile())
        let first = try learned(one)
        #expect(first.sessions == 1 && first.hasPlaces)
        #expect(try learned(one) == first)
        let both = try learned(one, two)
        #expect(both.sessions == 2 && both != first)
        #expect(try PrefetchProfile(bytes: both.bytes) == both)
        var options = Self.options
        // A profile of the options plays no part.
        options.profile = .learned(first)
        #expect(try Learn(options).profile(of: [one]) == first)
        #expect(try Learn(options).profile(of: [one, two], shouldStop: { true }) == nil)
    }

    @Test func aTraceIsLeftOutOfItsOwnProfile() throws {
        let traces = Traces()
        let a = try traces.add(.flings, seed: 1, to: "fast/a.csv")
        let b = try traces.add(.pinches, seed: 2, to: "fast/b.csv")
        let other = try traces.add(.slide, seed: 3, to: "slow/c.csv")
        let (fromA, fromB) = (try learned(a), try learned(b))
        #expect(fromA != fromB)
        let pair = try leavingOneOut([a, b])
        #expect(pair == [a: fromB, b: fromA])
        // Those of another source tell nothing, and the only one of its source starts with nothing.
        #expect(try leavingOneOut([a, other, b]) == [a: fromB, b: fromA, other: PrefetchProfile()])
        // Named twice, it still does not learn from itself.
        let fromBoth = try learned(a, a)
        #expect(try leavingOneOut([a, b, a]) == [a: fromB, b: fromBoth])
        #expect(try Learn(Self.options).leavingOneOut(of: [a, b], shouldStop: { true }, progress: { _, _ in }) == nil)
        // None would have learned anything.
        for alone in [[a], [a, other], [a, a]] {
            #expect(throws: ReplayError.self) { try leavingOneOut(alone) }
        }
    }

    @Test func comparisonsStartWithTheOthersProfile() throws {
        let traces = Traces()
        // One session that six people had.
        let paths = try (1...6).map { try traces.add(.slide, seed: 1, to: "a/\($0).csv") }
        var compare = Compare(options: Self.options, policies: [.tilecache, .skewport], budgets: [.screens(4)])
        let without = try compare.run(paths: paths)
        compare.learnsFromOthers = true
        let with = try compare.run(paths: paths)
        #expect(with.configuration["learn"] == .text("leave-one-out") && without.configuration["learn"] == nil)
        #expect(ReplayFlags.words(with.configuration).contains("--learn leave-one-out"))
        func row(_ report: CompareReport, _ trace: String, _ policy: String) throws -> CompareRow {
            try #require(report.rows.first { $0.trace == trace && $0.policy == policy })
        }
        // What five of them teach is the same for each.
        var options = Self.options
        options.profile = .learned(try #require(try Learn(Self.options).profile(of: Array(paths.dropFirst()))))
        let replayed = options
        let total = try Replay(options).run([{ try ReplayInput(path: paths[0], options: replayed) }]).total
        for number in 1...paths.count {
            let name = "\(number).csv"
            let found = try row(with, name, "tilecache")
            #expect(found.hitRate == total.demands.hitRate && found.loads == total.loads.started)
            let (cold, rival) = (try row(without, name, "tilecache"), try row(without, name, "skewport"))
            #expect(found != cold)
            #expect(try row(with, name, "skewport") == rival)
        }
    }

    @Test func reportsNameTheProfile() {
        var options = ReplayOptions()
        options.profile = .file("maps.profile")
        #expect(ReplayFlags.pasted(options, byteLimit: 1 << 20) == "--memory-limit 1MiB --profile maps.profile")
        // `replay` refuses a profile for another policy; `tune` may have one for a policy beside its own.
        (options.prefetch, options.eviction, options.without) = (.ring, .lru, .zoom)
        #expect(
            ReplayFlags.pasted(options, byteLimit: 1 << 20) == "--memory-limit 1MiB --prefetch ring --eviction lru"
        )
    }
}
