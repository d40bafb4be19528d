import CacheBenchKit
import Testing
import TileCache

/// The default policy and the simple ones. The kinds of motion are ones that no constant was chosen with.
@Suite struct GeneratedSessionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var kind: GeneratedSession.Kind
        var width = 1000.0
        var height = 700.0
        var tileSize = 256
        var frameRate = 60.0
        var milliseconds: Int64 = 40
        /// Allowed deficit in hits against the best simple policy.
        var allowance = 0.02
        /// Maximum fraction of its loads that are never drawn.
        var mostWaste = 0.62
        /// Whether it has fewer hits and a less coarse picture than every simple policy.
        var isSharper = false

        var testDescription: String { "\(kind), \(Int(width))x\(Int(height)), \(milliseconds) ms" }
    }

    static let cases = [
        Case(kind: .flings),
        Case(kind: .pinches),
        Case(kind: .slide),
        Case(kind: .flights),
        // A ring prefetches for any step; the default policy only as far as the price allows, and a coarser level of the
        // next screen comes before its sharp tiles.
        Case(kind: .keys, allowance: 0.06, isSharper: true),
        Case(kind: .circles),
        Case(kind: .camera),
        Case(kind: .wheel),
        Case(kind: .drift),
        Case(kind: .flings, width: 390, height: 844, milliseconds: 150),
        Case(kind: .pinches, width: 1920, height: 1080, tileSize: 512, frameRate: 30),
        // With loads this short a worker is always free, so improbable tiles are loaded too.
        Case(kind: .slide, width: 390, height: 844, milliseconds: 10, mostWaste: 0.75),
        Case(kind: .circles, width: 390, height: 844, milliseconds: 150),
        Case(kind: .camera, width: 390, height: 844, milliseconds: 150),
        Case(kind: .camera, width: 1920, height: 1080, milliseconds: 300),
        // At rest a ring prefetches for steps of half a view. The default policy waits until steps have taught it.
        Case(kind: .keys, width: 390, height: 844, milliseconds: 150, allowance: 0.12),
        Case(kind: .keys, width: 1920, height: 1080, tileSize: 512, frameRate: 30, allowance: 0.15, isSharper: true),
        // Four workers load 13 tiles a second; a fling uncovers 50. The coarser level that shows meanwhile takes every
        // seventh load.
        Case(
            kind: .flings,
            width: 1920,
            height: 1080,
            milliseconds: 300,
            allowance: 0.11,
            mostWaste: 0.7,
            isSharper: true
        ),
    ]

    @Test(arguments: cases) func theDefaultHitsAsOftenAsAnySimplePolicy(_ session: Case) throws {
        func replay(_ policy: PrefetchKind) throws -> ReplayReport {
            var options = ReplayOptions()
            options.memoryLimit = .screens(4)
            options.compressedTier = false
            options.prefetch = policy
            options.eviction = policy == .tilecache ? .tilecache : .lru
            options.loadLatency = session.milliseconds * 1_000_000
            options.frameRate = session.frameRate
            let samples = GeneratedSession(
                session.kind,
                width: session.width,
                height: session.height,
                seconds: 9,
                seed: 1
            )
            return try Replay(options).run([
                { try samples.input(name: "\(session.kind)", tileSize: session.tileSize) }
            ]).total
        }
        let own = try replay(.tilecache)
        let rate = try #require(own.demands.hitRate)
        let waste = try #require(own.loads.waste)
        #expect(waste <= session.mostWaste, "wastes \(waste) of its loads")
        for policy in [PrefetchKind.none, .ring, .velocity, .skewport] {
            let simple = try replay(policy)
            let other = try #require(simple.demands.hitRate)
            #expect(rate >= other - session.allowance, "\(policy) hits \(other), tilecache \(rate)")
            let (blur, otherBlur) = (try #require(own.coverage.deficit), try #require(simple.coverage.deficit))
            #expect(
                !session.isSharper || blur < otherBlur,
                "\(policy) is \(otherBlur) levels too coarse, tilecache \(blur)"
            )
        }
    }

    /// Throws of three laws, which uncover more tiles than the workers load. Tiles with their last chance first hit more.
    @Test(arguments: [(4, 40), (6, 150)])
    func throwsHitMoreWithDeadlines(_ speed: (workers: Int, load: Int64)) throws {
        let sessions = GeneratedSession.Momentum.allCases.flatMap { law in
            Self.seeds.map { GeneratedSession(throwsBy: law, width: 1000, height: 700, seconds: 12, seed: $0) }
        }
        func hits(without effects: PolicyEffects) throws -> Int { try Self.hits(sessions, speed, without: effects) }
        let (with, without) = (try hits(without: []), try hits(without: .deadlines))
        #expect(with > without, "\(with) hits, without \(without)")
    }

    /// Zooms about points of the screen: continuous ones, and steps of an octave.
    @Test(arguments: [(4, 40), (6, 150)], [GeneratedSession.Kind.pinches, .wheel])
    func zoomsHitMoreIfTheyAreFollowed(_ speed: (workers: Int, load: Int64), kind: GeneratedSession.Kind) throws {
        let sessions = Self.seeds.map { GeneratedSession(kind, width: 1000, height: 700, seconds: 12, seed: $0) }
        func hits(without effects: PolicyEffects) throws -> Int { try Self.hits(sessions, speed, without: effects) }
        let (with, without) = (try hits(without: []), try hits(without: .zoom))
        #expect(with > without, "\(with) hits, without \(without)")
    }

    private static let seeds = UInt64(1)...4

    /// Hits of sessions at 4 screens without the compressed tier.
    ///
    /// - Parameter speed: Workers, and milliseconds of a load.
    private static func hits(
        _ sessions: [GeneratedSession],
        _ speed: (workers: Int, load: Int64),
        without effects: PolicyEffects
    ) throws -> Int {
        var options = ReplayOptions()
        options.memoryLimit = .screens(4)
        options.compressedTier = false
        options.workers = speed.workers
        options.loadLatency = speed.load * 1_000_000
        options.without = effects
        let inputs = sessions.enumerated().map { number, session in
            { @Sendable () throws -> ReplayInput in try session.input(name: "\(number)", tileSize: 256) }
        }
        return try Replay(options).run(inputs).total.demands.decodedHits
    }
}
