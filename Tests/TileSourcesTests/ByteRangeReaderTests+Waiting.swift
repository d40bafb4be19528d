import Synchronization
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads and requests that wait: for another attempt, for a request under way, for room.
extension ByteRangeReaderTests {
    /// A request that waits for another attempt has no connection, and keeps no other read waiting.
    @Test func readsPassARequestThatWaits() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { _, asked, answer in
                    if asked.lowerBound == 50_000 { answer = .init(status: 500, headers: ["Retry-After: 30"]) }
                }
            }
        )
        let (reader, _) = try open(server.address) { $0.connections = 1 }
        let ends = Record<Bool>()
        let cancel = reader.read(50_000..<50_010, for: RangeClient(isDemand: false)) { _ in ends.add(false) }.cancel
        #expect(settled { counter.statistics.failures == [.status: 1] })
        reader.read(5..<9, for: RangeClient(isDemand: true)) { end in
            if case .bytes = end { ends.add(true) }
        }
        // Before the other's second attempt.
        #expect(settled { ends.all == [true] } && server.asked == [0..<1000, 50_000..<50_010, 5..<9])
        cancel()
        #expect(settled { ends.all == [true, false] } && counter.statistics.attempts == 3)
    }

    /// A view may come to need what waits.
    @Test func aRequestThatWaitsIsRaised() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { _, _, answer in answer = .init(status: 500) }
            }
        )
        let options = HTTPTileOptions(retries: 9, backOff: .seconds(30))
        let ranges = try #require(HTTPRanges(server.address, options, counter: counter))
        let client = RangeClient(isDemand: false)
        let read = ranges.read(0..<10, for: client) { _ in }
        #expect(settled { counter.statistics.failures == [.status: 1] })
        let group = RangeQueue.Group(reads: [.init(id: 1, range: 0..<10, isDemand: false)], range: 0..<10)
        let job = HTTPRangeJob(ranges, group, [client], RangeQuestion(range: group.range))
        #expect(!job.isDemand)
        read.raise()
        #expect(job.isDemand)
        read.cancel()
        #expect(!job.isDemand)
    }

    /// Nor is it requested again if the file is found to have changed meanwhile.
    @Test func aRequestThatWaitsEndsWithTheFile() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, answer in
                    if number == 1 { answer = .init(status: 500, headers: ["Retry-After: 30"]) }
                }
            }
        )
        let (reader, _) = try open(server.address)
        let ends = Record<TileLoadFailureCause?>()
        func read(_ range: Range<Int>) {
            reader.read(range, for: RangeClient(isDemand: true)) { end in
                if case .failed(.permanent, let failure) = end { ends.add(failure.cause) } else { ends.add(nil) }
            }
        }
        read(50_000..<50_010)
        #expect(settled { counter.statistics.failures == [.status: 1] })
        server.change { $0.entityTag = "\"second\"" }
        read(5..<9)
        #expect(settled { ends.all == [.changed, .changed] } && server.asked.count == 3)
    }

    /// Reads that wait while the file is found to be changed fail. Each is counted.
    @Test func waitingReadsOfAChangedFileAreCounted() throws {
        let gate = Gate()
        let server = try #require(
            RangeServer(bytes) { content in content.change = { number, _, _ in if number == 1 { gate.pass() } } }
        )
        let (reader, _) = try open(server.address) { $0.connections = 1 }
        server.change { $0.entityTag = "\"second\"" }
        let ends = Record<TileLoadFailureCause?>()
        for start in [0, 50_000, 100_000] {
            reader.read(start..<start + 10, for: RangeClient(isDemand: true)) { end in
                if case .failed(.permanent, let failure) = end { ends.add(failure.cause) } else { ends.add(nil) }
            }
        }
        gate.open()
        #expect(settled { ends.count == 3 } && ends.all == [.changed, .changed, .changed])
        #expect(server.asked.count == 2 && counter.statistics.failures == [.changed: 3])
        #expect(try #require(counter.statistics.lastFailure).contains("file: bytes 100000-100009: "))
    }

    /// Holds a server up until it is opened, so that reads have to wait.
    private final class Gate: Sendable {
        private let isOpen = Atomic(false)
        func open() { isOpen.store(true, ordering: .relaxed) }
        func pass() { while !isOpen.load(ordering: .relaxed) { usleep(1000) } }
    }

    @Test func waitingReadsShareRequestsAndCancelledOnesAreNotSent() throws {
        let gate = Gate()
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, _ in if number == 1 { gate.pass() } }
            }
        )
        let (reader, _) = try open(server.address) { $0.connections = 1 }
        let ends = Lock<[Int: RangeEnd]>([:])
        func read(_ number: Int, _ range: Range<Int>) -> @Sendable () -> Void {
            reader.read(range, for: RangeClient(isDemand: true)) { end in ends.withLock { $0[number] = end } }.cancel
        }
        _ = read(0, 0..<10)
        #expect(settled { server.asked.count == 2 })
        let cancels = (1...20).map { number in read(number, number * 1000..<number * 1000 + 950) }
        let far = read(21, 150_000..<150_100)
        cancels[19]()
        far()
        #expect(settled { ends.withLock { $0.count } == 2 })
        gate.open()
        #expect(settled { ends.withLock { $0.count } == 22 })
        for number in 0...21 {
            let end = ends.withLock { $0[number] }
            switch end {
            case .bytes(let got)?:
                let start = number * 1000
                #expect(got.array == Array(bytes[start..<start + (number == 0 ? 10 : 950)]) && number < 20)
            case .cancelled?: #expect(number >= 20)
            default: Issue.record("read \(number): \(String(describing: end))")
            }
        }
        #expect(server.asked == [0..<1000, 0..<10, 1000..<19_950])
    }

    /// Reads that begin together share a request though connections are free.
    @Test func readsOfAMomentShareARequest() throws {
        let server = try #require(RangeServer(bytes))
        var gathering = RangeGathering()
        gathering.longest = 3_600_000_000_000
        gathering.note(latency: .max)
        let options = HTTPTileOptions()
        let ranges = try #require(HTTPRanges(server.address, options, counter: counter, gathering: gathering))
        let ends = Lock<[Int: RangeEnd]>([:])
        let cancels = (0..<20).map { number in
            ranges.read(number * 100..<number * 100 + 100, for: RangeClient(isDemand: true)) { end in
                ends.withLock { $0[number] = end }
            }.cancel
        }
        cancels[19]()
        #expect(settled { ends.withLock { $0.count } == 1 } && server.asked.isEmpty)
        // One for which a thread waits ends the wait of all.
        ranges.read(150_000..<150_010, for: .opening) { end in ends.withLock { $0[20] = end } }.raise()
        #expect(settled { ends.withLock { $0.count } == 21 })
        for (number, end) in ends.withLock({ $0 }) where number < 19 {
            guard case .bytes(let got) = end else {
                Issue.record("read \(number): \(end)")
                continue
            }
            #expect(got.array == Array(bytes[number * 100..<number * 100 + 100]))
        }
        #expect(server.asked.sorted { $0.lowerBound < $1.lowerBound } == [0..<1900, 150_000..<150_010])
        ranges.stop()
    }

    /// Each read of a group ends when its own bytes have come, once, whatever becomes of the others'.
    @Test(arguments: [false, true]) func readsOfAGroupEndOneByOne(isCutOff: Bool) throws {
        let (first, second) = (Gate(), Gate())
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, answer in
                    if number == 1 { first.pass() }
                    if number == 2 { (answer.isCutOff, answer.pause) = (isCutOff, { if !isCutOff { second.pass() } }) }
                }
            }
        )
        let (reader, _) = try open(server.address) { $0.connections = 1 }
        let ends = Record<Int>()
        func read(_ number: Int, _ range: Range<Int>) {
            let expected = Array(bytes[range])
            reader.read(range, for: RangeClient(isDemand: true)) { end in
                guard case .bytes(let got) = end, got.array == expected else { return ends.add(-1) }
                ends.add(number)
            }
        }
        read(0, 0..<10)
        #expect(settled { server.asked.count == 2 })
        for number in 1...20 { read(number, number * 1000..<number * 1000 + 1000) }
        first.open()
        // The other half is still to come, or comes with the next attempt.
        #expect(settled { ends.count >= 11 } && (isCutOff || Set(ends.all) == Set(0...10)))
        second.open()
        #expect(settled { ends.count == 21 } && Set(ends.all) == Set(0...20))
        #expect(server.asked == [0..<1000, 0..<10] + .init(repeating: 1000..<21_000, count: isCutOff ? 2 : 1))
    }

    /// The request ends as soon as nobody waits for it, and not before.
    @Test func cancellationEndsTheRequest() throws {
        let gate = Gate()
        let server = try #require(
            RangeServer(bytes) { content in content.change = { number, _, _ in if number > 0 { gate.pass() } } }
        )
        let (reader, _) = try open(server.address) { $0.connections = 1 }
        let ends = Record<String>()
        func read(_ range: Range<Int>) -> @Sendable () -> Void {
            reader.read(range, for: RangeClient(isDemand: true)) { end in
                if case .cancelled = end { ends.add("cancelled") } else { ends.add("other") }
            }.cancel
        }
        let cancel = read(0..<10)
        #expect(settled { server.asked.count == 2 })
        let second = read(20..<30)
        #expect(counter.statistics.attempts == 2)
        cancel()
        cancel()
        #expect(settled { ends.count == 1 })
        // Its connection is free for the next one, though the server has not answered the first.
        #expect(settled { counter.statistics.attempts == 3 })
        gate.open()
        #expect(settled { ends.all == ["cancelled", "other"] })
        second()
        #expect(ends.count == 2)
        reader.stop()
        _ = read(0..<10)
        #expect(settled { ends.all == ["cancelled", "other", "cancelled"] })
    }

    /// Of a group only the read without room fails. The others release their bytes and wait again.
    @Test func aReadWithoutRoomFailsAlone() throws {
        let gate = Gate()
        let server = try #require(
            RangeServer(bytes) { content in content.change = { number, _, _ in if number == 1 { gate.pass() } } }
        )
        let (reader, _) = try open(server.address) { $0.connections = 1 }
        let ends = Lock<[Int: RangeEnd]>([:])
        let held = Record<Int>()
        for number in 0...20 {
            var client = RangeClient(isDemand: true)
            client.hold = { count in
                if number == 3 { held.add(count) }
                return number != 2 || count == 0
            }
            reader.read(number * 100..<number * 100 + 100, for: client) { end in ends.withLock { $0[number] = end } }
            if number == 0 { #expect(settled { server.asked.count == 2 }) }
        }
        gate.open()
        #expect(settled { ends.withLock { $0.count } == 21 })
        for number in 0...20 {
            switch ends.withLock({ $0[number] }) {
            case .bytes(let got)?: #expect(number != 2 && got.array == Array(bytes[number * 100..<number * 100 + 100]))
            case .failed(.transient, let failure)?: #expect(number == 2 && failure.cause == .noRoom)
            case let end: Issue.record("read \(number): \(String(describing: end))")
            }
        }
        #expect(held.all == [100, 0, 100] && counter.statistics.failures == [.noRoom: 1])
        #expect(server.asked == [0..<1000, 0..<100, 100..<2100, 100..<200, 300..<2100])
    }
}
