import PanTraces
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Load times under the virtual clock: by distribution, by a shared link, as recorded.
@Suite struct LoadTimesTests {
    private static let millisecond: Int64 = 1_000_000

    @Test func wordsAreReadAndWritten() throws {
        for text in ["constant", "longtail", "longtail:0.5", "bandwidth:10000000B", "file:a:b.csv"] {
            #expect(try #require(LoadTimes(text)).description == text)
        }
        #expect(LoadTimes("bandwidth:10MB") == .bandwidth(1e7))
        for text in [
            "", "constant:1", "longtail:0", "longtail:0.0001", "longtail:3.1", "longtail:x", "bandwidth", "bandwidth:0",
            "file:", "x",
        ] {
            #expect(LoadTimes(text) == nil, "\(text)")
        }
    }

    private func clock(_ times: LoadTimes, seed: UInt64 = 1, latency: Int64 = 40 * millisecond) throws -> LoadClock {
        var options = ReplayOptions()
        options.loadTimes = times
        options.seed = seed
        options.loadLatency = latency
        return try LoadClock(options)
    }

    @Test func aLongTailIsOfTheSeedAndTheTile() throws {
        let first = try clock(.longTail(sigma: 1))
        let again = try clock(.longTail(sigma: 1))
        let other = try clock(.longTail(sigma: 1), seed: 2)
        let tiles = (0..<4000).map { TileCoordinate(level: $0 % 7, column: $0 * 31 % 97, row: $0 / 3) }
        let times = tiles.map { first.time(of: $0) }
        // In any order, any number of times.
        #expect(tiles.reversed().map { again.time(of: $0) } == times.reversed())
        #expect(tiles.map { other.time(of: $0) } != times)
        let sorted = times.sorted()
        func quantile(_ share: Double) -> Double { Double(sorted[Int(Double(sorted.count) * share)]) / 40e6 }
        // A log-normal of sigma 1: e to the power of 0, 1.645 and 2.326.
        #expect((0.93...1.07).contains(quantile(0.5)))
        #expect((4.6...5.9).contains(quantile(0.95)))
        #expect((8.2...12.8).contains(quantile(0.99)))
        #expect(times.allSatisfy { $0 > 0 })
    }

    @Test func recordedTimesCountWhereThereAreAny() throws {
        let text = "# of a server\nlevel,column,row,milliseconds\n3,1,2,12.5\n\n0,0,0,0\n"
        let times = try RecordedLoadTimes.read(LineReader(bytes: Array(text.utf8), name: "times.csv"))
        #expect(
            times == [
                TileCoordinate(level: 3, column: 1, row: 2): 12_500_000, TileCoordinate(level: 0, column: 0, row: 0): 0,
            ]
        )
    }

    @Test(arguments: [
        ("3,1,2\n", 1), ("0,0,0,1\n3,1,2,x\n", 2), ("# a\n3,1,2,-1\n", 2), ("3,-1,2,1\n", 1), ("3,1,2,1\n3,1,2,2\n", 2),
        ("3,1,2,3600001\n", 1), ("3,1,2,nan\n", 1), ("a,1,2,3\n", 1), ("3,1,99999999999,1\n", 1), ("3,1,2,1,\n", 1),
    ])
    func whatIsWrongInAFileIsNamed(text: String, line: Int) {
        let error = #expect(throws: ReplayError.self) {
            try RecordedLoadTimes.read(LineReader(bytes: Array(text.utf8), name: "times.csv"))
        }
        #expect(error?.description.hasPrefix("times.csv:\(line): expected ") == true, "\(error?.description ?? "")")
    }

    @Test func aFileThatIsNotThereOrEmptyIsNamed() {
        let missing = #expect(throws: ReplayError.self) { try RecordedLoadTimes.read("/nowhere/times.csv") }
        #expect(missing?.description.hasPrefix("/nowhere/times.csv") == true)
        let empty = #expect(throws: ReplayError.self) {
            try RecordedLoadTimes.read(LineReader(bytes: Array("# nothing\n".utf8), name: "times.csv"))
        }
        #expect(empty?.description.hasPrefix("times.csv") == true)
    }

    /// Loads of 1000 bytes over a link of 1000 bytes in 10 ms. The latency before is 5 ms.
    private func ends(starts: [Int64]) -> [Int64] {
        var work = VirtualWork(bandwidth: 100_000)
        var ends: [Int64] = []
        func note(until now: Int64) {
            while let done = work.next(until: now) { ends.append(done.finish / Self.millisecond) }
        }
        for (number, start) in starts.enumerated() {
            note(until: start * Self.millisecond)
            let key = TileKey(layer: 0, TileCoordinate(level: 0, column: number, row: 0))
            let ticket = LoadTicket(
                load: LoadID(number: Int32(number)),
                key: key,
                slot: SlotID(number: 0),
                isDemand: true
            )
            work.begin(ticket, at: start * Self.millisecond, latency: 5 * Self.millisecond, bytes: 1000)
        }
        note(until: 1_000_000 * Self.millisecond)
        return ends
    }

    @Test func aLinkIsShared() {
        #expect(ends(starts: [0]) == [15])
        #expect(ends(starts: [0, 0]) == [25, 25])
        // The first has half of its bytes when the second's start to arrive; then both share the link.
        #expect(ends(starts: [0, 5]) == [20, 25])
        // Loads one after the other do not share it.
        #expect(ends(starts: [0, 15, 40]) == [15, 30, 55])
    }

    @Test func endsUnderWayAreWhatTheyWillBe() {
        var work = VirtualWork(bandwidth: 100_000)
        let key = TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))
        let ticket = LoadTicket(load: LoadID(number: 0), key: key, slot: SlotID(number: 0), isDemand: true)
        work.begin(ticket, at: 0, latency: 5 * Self.millisecond, bytes: 1000)
        #expect(work.flights().map(\.finish) == [15 * Self.millisecond])
        #expect(work.next(until: 7 * Self.millisecond) == nil)
        #expect(work.flights().map(\.finish) == [15 * Self.millisecond])
        #expect(work.next(until: 15 * Self.millisecond)?.finish == 15 * Self.millisecond)
        #expect(work.count == 0)
    }

    @Test(arguments: ["longtail", "bandwidth:3MB"]) func replaysAreEqualToTheBit(times: String) throws {
        func report() throws -> ReplayReport {
            var options = ReplayOptions()
            options.loadTimes = try #require(LoadTimes(times))
            options.duration = 6_000_000_000
            return try livelyReport(options)
        }
        let first = try report()
        #expect(try report() == first)
        #expect(first.configuration["loadTimes"] == .text(try #require(LoadTimes(times)).description))
    }
}
