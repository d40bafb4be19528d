import Foundation
import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Progress reports of a replay.
@Suite struct ReplayProgressTests {
    private func parts(_ options: ReplayOptions, path: String? = nil) throws -> [(part: Double?, seconds: Double)] {
        let seen = Lock<[(part: Double?, seconds: Double)]>([])
        let hooks = ReplayHooks(progress: { _, part, seconds in seen.withLock { $0.append((part, seconds)) } })
        let input = try path.map { try ReplayInput(path: $0, options: options) } ?? ReplayInput(lively: options)
        _ = try Replay(options).run(input, hooks: hooks)
        return seen.withLock { $0 }
    }

    /// A trace of a minute in real time reports many times a second. Not every thousand frames.
    @Test func aReplayInRealTimeIsToldOfOften() throws {
        var options = ReplayOptions()
        options.clock = .real
        options.speed = 100
        options.loadLatency = 0
        options.duration = 4_000_000_000
        let parts = try parts(options)
        // Every eighth of 240 frames.
        #expect(parts.count == 30)
        for (part, seconds) in parts { #expect(part == seconds / 4) }
    }

    /// The second frame comes after 100 s, and is the last one.
    @Test func aStopEndsTheWaitForAFrame() throws {
        var options = ReplayOptions()
        options.clock = .real
        options.loadLatency = 0
        options.frameRate = 0.01
        let calls = Lock(0)
        let hooks = ReplayHooks(shouldStop: {
            calls.withLock { calls in
                calls += 1
                return calls > 3
            }
        })
        let result = try Replay(options).run(ReplayInput(builtIn: options), hooks: hooks)
        #expect(result.wasStopped && result.total.trace.frames == 2)
    }

    /// For a session in memory and for a file, the end is known.
    @Test func thePartRisesToAll() throws {
        var options = ReplayOptions()
        options.prefetch = .none
        let parts = try parts(options)
        #expect(parts.count == 3)
        #expect(parts.allSatisfy { $0.part.map { $0 > 0 && $0 <= 1 } == true })
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.part ?? 1 < $1.part ?? 0 })
    }

    /// Buffered bytes have not been replayed.
    @Test func theReadersBufferDoesNotCount() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(BuiltInSession().text.utf8).write(to: file)
        let reader = try LineReader(path: file.path)
        _ = try reader.next()
        #expect(try #require(reader.partRead) < 0.001)
        while try reader.next() != nil {}
        #expect(reader.partRead == 1)
    }
}
