import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Ranges of files, on a disk and on servers of this process.
@Suite(.timeLimit(.minutes(45))) struct ByteRangeReaderTests {
    let folder = ScratchFolder()
    let counter = SourceCounter()
    let bytes: [UInt8] = {
        var random = SplitMix64(seed: 1)
        return (0..<200_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }()

    func open(
        _ place: String,
        first: Int = 1000,
        _ change: (inout HTTPTileOptions) -> Void = { _ in }
    ) throws -> (reader: ByteRangeReader, beginning: [UInt8]) {
        var http = HTTPTileOptions(timeout: .seconds(60), retries: 2, backOff: .milliseconds(1))
        change(&http)
        return try ByteRangeReader.open(
            place,
            expecting: "a file",
            first: first,
            least: 10,
            http: http,
            counter: counter
        )
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
            // Only what may pass is retried. After a refusal the first ten bytes are asked for.
            let count = expected.hasPrefix("1000 bytes") ? 3 : expected.hasSuffix("404") ? 2 : 1
            #expect(server.asked.count == count, "\(expected)")
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
                    if number > 0 { answer = .init(status: 500, headers: ["Retry-After: \(asked)"]) }
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

    /// A server that is busy is asked for nothing until it says, by no source. What was put off is no failure.
    @Test func allReadsWaitForABusyServer() throws {
        let server = try #require(
            RangeServer(bytes) { content in
                content.change = { number, _, answer in
                    if number > 0 { answer = .init(status: 503, headers: ["Retry-After: 20"]) }
                }
            }
        )
        let (reader, _) = try open(server.address)
        for range in [5..<9, 50_000..<50_010, 5..<9] {
            let answer = Awaited<RangeEnd>()
            reader.read(range, for: RangeClient(isDemand: true)) { answer.set($0) }
            guard case .failed(.postponed(let wait), _) = answer.wait() else {
                Issue.record("the server is busy")
                return
            }
            #expect(wait > .zero && wait <= .seconds(22))
        }
        #expect(server.asked.count == 2 && counter.statistics.failures == [.status: 1])
        #expect(counter.statistics.postponed == 3 && counter.statistics.retries == 0)
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
        // Nor is it asked again meanwhile, by whatever source.
        #expect(message { _ = try HTTPTileSource(iiif: server.address, http: http) }.hasSuffix(RetryRule.pause))
        #expect(counter.statistics.attempts == 1 && server.asked.count == 1)
    }

    @Test func aChangedFileOnAServerIsAnErrorUntilItIsOpenedAgain() throws {
        let server = try #require(RangeServer(bytes))
        let (reader, _) = try open(server.address)
        #expect(try reader.readNow(7..<9) == Array(bytes[7..<9]) && reader.warning == nil)
        server.change { ($0.entityTag, $0.bytes[7]) = ("\"second\"", 0) }
        #expect(message { _ = try reader.readNow(7..<9) }.contains("changed since it was opened; open it again"))
        // Nothing is asked for any more, whatever the server has now.
        server.change { $0.entityTag = "\"first\"" }
        let count = server.asked.count
        #expect(message { _ = try reader.readNow(7..<9) }.contains("changed") && server.asked.count == count)
        #expect(reader.warning != nil && counter.statistics.failures == [.changed: 2])
        server.change { $0.entityTag = "\"second\"" }
        let (again, _) = try open(server.address)
        #expect(try again.readNow(7..<8) == [0] && again.dataSet != reader.dataSet)
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
        #expect(changing.warning != nil && counter.statistics.failures == [.changed: 1])
        truncate(written, 100)
        #expect(message { _ = try changing.readNow(7..<9) }.contains("changed"))
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
                case .bytes(let got): #expect(hasRoom && got.array == Array(bytes[range]))
                case .failed(let failure, let cause):
                    #expect(!hasRoom && cause.cause == .noRoom && failure == .transient(retryAfter: .seconds(1)))
                case .cancelled: Issue.record("nobody gave it up")
                }
            }
            // Of a file the source counts its buffer afterwards.
            #expect(held.all.filter { $0 > 0 }.prefix(2) == [100, 101])
        }
    }
}
