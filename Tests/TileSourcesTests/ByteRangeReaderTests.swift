import Synchronization
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Ranges of files, on a disk and on servers of this process.
@Suite(.timeLimit(.minutes(15))) struct ByteRangeReaderTests {
    private let folder = ScratchFolder()
    private let counter = SourceCounter()
    private let bytes: [UInt8] = {
        var random = SplitMix64(seed: 1)
        return (0..<200_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }()

    private func open(
        _ place: String,
        first: Int = 1000,
        _ change: (inout HTTPTileOptions) -> Void = { _ in }
    ) throws -> (reader: ByteRangeReader, beginning: [UInt8]) {
        var http = HTTPTileOptions(timeout: .seconds(60), retries: 2, backOff: .milliseconds(1))
        change(&http)
        return try ByteRangeReader.open(place, expecting: "a file", first: first, http: http, counter: counter)
    }

    /// A server may send any coding to a request that does not say which, and ranges of a coded file are other bytes.
    @Test func noCodingIsAccepted() throws {
        let asked = Record<String>()
        let server = try #require(
            ModelServer { request in
                asked.add(request.headers["accept-encoding"] ?? "any")
                return .init(status: 206, headers: ["Content-Range: bytes 0-3/4"], body: [1, 2, 3, 4])
            }
        )
        let (reader, beginning) = try open("http://127.0.0.1:\(server.port)/file", first: 4)
        #expect(beginning == [1, 2, 3, 4] && asked.all == ["identity"])
        reader.stop()
        withExtendedLifetime(server) {}
    }

    @Test func filesAndServersHaveTheSameBytes() throws {
        let server = try #require(RangeServer(bytes))
        let path = folder.write(bytes, to: "file")
        for place in [path, server.address] {
            let (reader, beginning) = try open(place)
            #expect(beginning == Array(bytes[..<1000]) && reader.size == bytes.count)
            var random = SplitMix64(seed: 2)
            for _ in 0..<50 {
                let start = Int(random.next() % UInt64(bytes.count))
                let count = Int(random.next() % UInt64(min(bytes.count - start, 5000))) + 1
                #expect(try reader.readNow(start..<start + count) == Array(bytes[start..<start + count]))
            }
            let end = bytes.count
            #expect(try reader.readNow(end - 1..<end) == [bytes[end - 1]] && reader.readNow(end..<end).isEmpty)
            #expect(message { _ = try reader.readNow(end - 1..<end + 1) }.contains("beyond the file's end at 200000"))
            reader.stop()
        }
        // A byte beyond the end is not asked for.
        #expect(server.asked.count == 52)
    }

    @Test func aShortFileIsReadWhole() throws {
        let server = try #require(RangeServer([1, 2, 3]))
        for place in [folder.write([1, 2, 3], to: "short"), server.address] {
            let (reader, beginning) = try open(place)
            #expect(beginning == [1, 2, 3] && reader.size == 3)
        }
        let empty = try #require(RangeServer([]))
        #expect(message { _ = try open(empty.address) }.contains("the file is empty"))
        #expect(try open(folder.write([], to: "empty")).beginning.isEmpty)
    }

    @Test func whatCannotBeOpenedIsSaid() throws {
        #expect(message { _ = try open("/nowhere/x") }.contains("there is no such file; a file was expected"))
        #expect(message { _ = try open(folder.path) }.contains("this is no file"))
        #expect(message { _ = try open("http://") }.contains("http://"))
        let refusals: [(String, @Sendable (Int, Range<Int>, inout ModelServer.Answer) -> Void)] = [
            ("ignores Range", { _, _, answer in answer = .init(body: [UInt8](repeating: 0, count: 100_000)) }),
            ("the status 404", { _, _, answer in answer = .init(status: 404) }),
            ("Content-Encoding: gzip", { _, _, answer in answer.headers.append("Content-Encoding: gzip") }),
            ("SIZE was expected, not \"\"", { _, _, answer in answer.headers = [] }),
            ("were asked for, not bytes 1-999", { $2.headers = ["Content-Range: bytes 1-999/2000"] }),
            ("1000 bytes were expected, not 10", { _, _, answer in answer.body = Array(answer.body.prefix(10)) }),
            ("more than 1000 bytes", { _, _, answer in answer.body += [0] }),
        ]
        for (expected, change) in refusals {
            let server = try #require(RangeServer(bytes) { $0.change = change })
            let text = message { _ = try open(server.address) }
            #expect(text.hasPrefix(server.address) && text.contains(expected), "\(text)")
            // Only what may pass is retried.
            #expect(server.asked.count == (expected.hasPrefix("1000 bytes") ? 3 : 1), "\(expected)")
        }
    }

    @Test func failuresThatPassAreRetried() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, answer in
                    if number % 3 != 2 { answer = .init(status: 503) }
                }
            }
        )
        let (reader, beginning) = try open(server.address)
        #expect(beginning == Array(bytes[..<1000]))
        #expect(try reader.readNow(5..<9) == Array(bytes[5..<9]))
        #expect(server.asked.count == 6 && counter.statistics.retries == 4 && counter.statistics.attempts == 6)
        #expect(counter.statistics.failures == [.status: 4])
        #expect(try #require(counter.statistics.lastFailure).contains("file: bytes 5-8: the server answered"))
    }

    /// The cache waits as long as the server asks for, up to 30 s, after the last attempt too.
    @Test(arguments: [(0, 1), (20, 20), (3600, 30)]) func theCacheWaitsAsTheServerAsks(asked: Int, wait: Int) throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, answer in
                    if number > 0 { answer = .init(status: 503, headers: ["Retry-After: \(asked)"]) }
                }
            }
        )
        let (reader, _) = try open(server.address) { $0.retries = 0 }
        let answer = Awaited<RangeEnd>()
        reader.read(5..<9, for: RangeClient(isDemand: true)) { answer.set($0) }
        guard case .failed(let failure, _) = answer.wait() else {
            Issue.record("the server is busy")
            return
        }
        #expect(failure == .transient(retryAfter: .seconds(wait)))
    }

    /// Nothing could end the wait of a thread that opens a source.
    @Test func aServerThatIsBusyForLongIsNotOpened() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { _, _, answer in answer = .init(status: 503, headers: ["Retry-After: 30"]) }
            }
        )
        #expect(message { _ = try open(server.address) }.hasSuffix("status 503; it asks to wait for 30 s"))
        let http = HTTPTileOptions(retries: 2)
        #expect(message { _ = try HTTPTileSource(iiif: server.address, http: http) }.hasSuffix("wait for 30 s"))
        #expect(counter.statistics.attempts == 1 && server.asked.count == 2)
    }

    /// A request that waits for another attempt has no connection, and keeps no other read waiting.
    @Test func readsPassARequestThatWaits() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { _, asked, answer in
                    if asked.lowerBound == 50_000 { answer = .init(status: 503, headers: ["Retry-After: 30"]) }
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
        // Nothing listens there.
        let options = HTTPTileOptions(retries: 9, backOff: .seconds(30))
        let ranges = try #require(HTTPRanges("http://127.0.0.1:1/file", options, counter: counter))
        let client = RangeClient(isDemand: false)
        let read = ranges.read(0..<10, for: client) { _ in }
        #expect(settled { counter.statistics.failures == [.connection: 1] })
        let group = RangeQueue.Group(reads: [.init(id: 1, range: 0..<10, isDemand: false)], range: 0..<10)
        let job = HTTPRangeJob(ranges, group, [client], pin: nil)
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
                    if number == 1 { answer = .init(status: 503, headers: ["Retry-After: 30"]) }
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

    @Test func aChangedFileOnAServerIsAnErrorUntilItIsOpenedAgain() throws {
        let server = try #require(RangeServer(bytes))
        let (reader, _) = try open(server.address)
        #expect(try reader.readNow(7..<9) == Array(bytes[7..<9]) && !reader.isChanged)
        server.change { ($0.entityTag, $0.bytes[7]) = ("\"second\"", 0) }
        #expect(message { _ = try reader.readNow(7..<9) }.contains("changed since it was opened; open it again"))
        // Nothing is asked for any more, whatever the server has now.
        server.change { $0.entityTag = "\"first\"" }
        let count = server.asked.count
        #expect(message { _ = try reader.readNow(7..<9) }.contains("changed") && server.asked.count == count)
        #expect(reader.isChanged && counter.statistics.failures == [.changed: 2])
        server.change { $0.entityTag = "\"second\"" }
        let (again, _) = try open(server.address)
        #expect(try again.readNow(7..<8) == [0] && again.dataSet != reader.dataSet)
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

    /// A redirection is followed, even if its status means absence for tiles.
    @Test(arguments: [301, 302, 303, 307, 308]) func redirectionsAreFollowed(status: Int) throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, answer in
                    guard number % 2 == 0 else { return }
                    answer = .init(status: status, headers: ["Location: /moved"])
                }
            }
        )
        for absent in [[204, 404, 410], [status]] as [Set<Int>] {
            let (reader, beginning) = try open(server.address) { $0.absentStatuses = absent }
            #expect(beginning == Array(bytes[..<1000]))
            #expect(try reader.readNow(5..<9) == Array(bytes[5..<9]))
            reader.stop()
        }
    }

    @Test func aChangedFileOnADiskIsAnError() throws {
        let path = folder.write(bytes, to: "file")
        let (reader, _) = try open(path)
        // Replaced by another file of the same name: the open one is still whole.
        rename(folder.write([1], to: "other"), path)
        #expect(try reader.readNow(7..<9) == Array(bytes[7..<9]))
        let written = folder.write(bytes, to: "written")
        let (changing, _) = try open(written)
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        utimensat(AT_FDCWD, written, &times, 0)
        #expect(message { _ = try changing.readNow(7..<9) }.contains("changed since it was opened"))
        #expect(changing.isChanged && counter.statistics.failures == [.changed: 1])
        truncate(written, 100)
        #expect(message { _ = try changing.readNow(7..<9) }.contains("changed"))
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
                #expect(got == Array(bytes[start..<start + (number == 0 ? 10 : 950)]) && number < 20)
            case .cancelled?: #expect(number >= 20)
            default: Issue.record("read \(number): \(String(describing: end))")
            }
        }
        #expect(server.asked == [0..<1000, 0..<10, 1000..<19_950])
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

    /// Bytes count against the limit before they are in memory. Without room the read fails and may be repeated.
    @Test func bytesAreHeldByTheCache() throws {
        let server = try #require(RangeServer(bytes))
        for place in [folder.write(bytes, to: "file"), server.address] {
            let (reader, _) = try open(place) { $0.retries = 0 }
            let held = Record<Int>()
            var client = RangeClient(isDemand: false)
            client.hold = { count in
                held.add(count)
                return count <= 100
            }
            for (range, hasRoom) in [(0..<100, true), (0..<101, false)] {
                let answer = Awaited<RangeEnd>()
                reader.read(range, for: client) { answer.set($0) }
                switch answer.wait() {
                case .bytes(let got): #expect(hasRoom && got == Array(bytes[range]))
                case .failed(let failure, let cause):
                    #expect(!hasRoom && cause.cause == .noRoom && failure == .transient(retryAfter: .seconds(1)))
                case .cancelled: Issue.record("nobody gave it up")
                }
            }
            #expect(held.all.prefix(2) == [100, 101])
        }
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
            case .bytes(let got)?: #expect(number != 2 && got == Array(bytes[number * 100..<number * 100 + 100]))
            case .failed(.transient, let failure)?: #expect(number == 2 && failure.cause == .noRoom)
            case let end: Issue.record("read \(number): \(String(describing: end))")
            }
        }
        #expect(held.all == [100, 0, 100] && counter.statistics.failures == [.noRoom: 1])
        #expect(server.asked == [0..<1000, 0..<100, 100..<2100, 100..<200, 300..<2100])
    }
}
