import Testing

@testable import TileCache
@testable import TileSources

/// Servers that answer ranges in ways of their own, scripted in this process.
@Suite(.timeLimit(.minutes(45))) struct RangeServersTests {
    private let counter = SourceCounter()
    private let bytes: [UInt8] = {
        var random = SplitMix64(seed: 9)
        return (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }()

    private func open(
        _ place: String,
        first: Int = 1000,
        retries: Int = 2
    ) throws -> (reader: ByteRangeReader, beginning: [UInt8]) {
        let http = HTTPTileOptions(timeout: .seconds(60), retries: retries, backOff: .milliseconds(1))
        return try ByteRangeReader.open(
            place,
            expecting: "a file",
            first: first,
            least: 10,
            http: http,
            counter: counter
        )
    }

    /// What a server makes of a range that ends beyond the file. Each serves ranges within it.
    private static let beyond: [(String, @Sendable ([UInt8], Range<Int>) -> ModelServer.Answer)] = [
        ("200", { bytes, _ in .init(body: bytes) }),
        ("400", { _, _ in .init(status: 400) }),
        ("404", { _, _ in .init(status: 404) }),
        ("416", { _, _ in .init(status: 416) }),
        ("416 with the size", { bytes, _ in .init(status: 416, headers: ["Content-Range: bytes */\(bytes.count)"]) }),
        (
            "the range of the request",
            { bytes, asked in
                let range = "bytes \(asked.lowerBound)-\(asked.upperBound - 1)/\(bytes.count)"
                return .init(status: 206, headers: ["Content-Range: \(range)"], body: bytes)
            }
        ),
        (
            "a part without the bytes",
            { bytes, asked in
                let range = "bytes \(asked.lowerBound)-\(asked.upperBound - 1)/\(bytes.count)"
                return .init(status: 206, headers: ["Content-Range: \(range)"], body: Array(bytes.prefix(5)))
            }
        ),
    ]

    /// Sizes around that of the first request and that of the header.
    @Test(arguments: beyond.indices, [10, 11, 999, 1000, 1001]) func shortFilesAreOpened(kind: Int, size: Int) throws {
        let (name, answer) = Self.beyond[kind]
        let file = Array(bytes.prefix(size))
        let server = try #require(
            RangeServer(file) { content in
                content.change = { _, asked, answered in
                    if asked.upperBound > file.count { answered = answer(file, asked) }
                    answered.headers.append("ETag: \"first\"")
                }
            }
        )
        // No retries are needed.
        let (reader, beginning) = try open(server.address, retries: 0)
        #expect(beginning == Array(file.prefix(1000)) && reader.size == size, "\(name), \(size)")
        #expect(try reader.readNow(1..<10) == Array(file[1..<10]), "\(name), \(size)")
        #expect(try reader.readNow(0..<size) == file && reader.readNow(size - 1..<size) == [file[size - 1]])
        #expect(counter.statistics.failureCount == 0 && reader.warning == nil && reader.isStorable)
        #expect(server.asked.first == 0..<1000 && server.asked.count <= 6)
        reader.stop()
    }

    /// A server without ranges is asked for a short file once.
    @Test func aWholeFileStaysInMemory() throws {
        let file = Array(bytes.prefix(1000))
        let server = try #require(
            RangeServer(file) { $0.change = { $2 = .init(headers: ["ETag: \"a\""], body: file) } }
        )
        let (reader, beginning) = try open(server.address)
        #expect(beginning == file && reader.heldBytes == 1000 && reader.isStorable)
        for range in [0..<1000, 5..<9, 999..<1000] { #expect(try reader.readNow(range) == Array(file[range])) }
        var client = RangeClient(isDemand: false)
        client.hold = { $0 < 10 }
        let answer = Awaited<RangeEnd>()
        reader.read(5..<15, for: client) { answer.set($0) }
        guard case .failed(.transient(retryAfter: .seconds(1)), let failure) = answer.wait() else {
            Issue.record("there is no room")
            return
        }
        #expect(failure.cause == .noRoom && server.asked.count == 1)
        // One byte more is refused: it cannot be read in parts.
        let long = bytes
        let other = try #require(RangeServer(long) { $0.change = { $2 = .init(body: Array(long.prefix(1001))) } })
        #expect(message { _ = try open(other.address) }.contains("ignores Range") && other.asked.count == 1)
    }

    @Test func onlyTheServerSaysThatAFileIsEmpty() throws {
        for (status, line, text, count) in [
            (416, "Content-Range: bytes */0", "the file is empty", 1), (200, "X: y", "the file is empty", 1),
            (416, "X: y", "the status 416 for bytes 0-9; the file may be shorter", 2),
            (416, "Content-Range: bytes */5", "the status 416 for bytes 0-9 of 5", 2),
        ] {
            let server = try #require(RangeServer([]) { $0.change = { $2 = .init(status: status, headers: [line]) } })
            let said = message { _ = try open(server.address) }
            #expect(said.hasSuffix(text) && server.asked.count == count, "\(said)")
        }
    }

    /// One answer in `period` is the whole file, as of a cache that has it. Each read comes, with no more than two requests.
    @Test(arguments: [2, 3, 4]) func wholeFilesAfterPartsPass(period: Int) throws {
        let (whole, lines) = (bytes, Record<String>())
        let server = try #require(
            ModelServer { request in
                lines.add(request.headers["cache-control"] ?? "")
                let number = lines.count
                guard number % period != 0 else { return .init(headers: ["ETag: \"a\""], body: whole) }
                let ends = (request.headers["range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
                let range = ends[0]..<ends[1] + 1
                return .init(
                    status: 206,
                    headers: ["ETag: \"a\"", "Content-Range: bytes \(ends[0])-\(ends[1])/\(whole.count)"],
                    body: Array(whole[range])
                )
            }
        )
        let (reader, _) = try open("http://127.0.0.1:\(server.port)/file", retries: 0)
        for start in stride(from: 0, to: 900, by: 100) {
            #expect(try reader.readNow(start..<start + 10) == Array(bytes[start..<start + 10]))
        }
        #expect(counter.statistics.failureCount == 0 && reader.warning == nil)
        // From the first whole file on, requests pass caches.
        let all = lines.all
        #expect(all.prefix(period).allSatisfy { $0.isEmpty } && all.dropFirst(period).allSatisfy { $0 == "no-cache" })
        reader.stop()
    }

    /// A cache that has answered once with the whole file is asked again after some requests.
    @Test func cachesAreNotPassedForEver() throws {
        let lines = Record<String?>()
        let server = try #require(
            RangeServer(bytes) { content in
                let whole = content.bytes
                content.change = { number, _, answer in
                    if number == 1 { answer = .init(headers: ["ETag: \"first\""], body: whole) }
                }
                content.note = { lines.add($0.headers["cache-control"]) }
            }
        )
        let (reader, _) = try open(server.address, retries: 0)
        for _ in 0..<HTTPRanges.mostPastCaches + 3 { _ = try reader.readNow(100..<110) }
        // The first range, the whole file, its repetition, and those that pass the cache.
        let passing = lines.all.map { $0 == "no-cache" }
        let passed = Array(repeating: true, count: 1 + HTTPRanges.mostPastCaches)
        #expect(passing == [false, false] + passed + [false, false])
        reader.stop()
    }

    /// A cache that has the whole file at first, too. Without a sign of one there is one request.
    @Test(arguments: ["Age: 1", "Via: 1.1 x", "X-Cache: HIT", "Accept-Ranges: bytes", "X-None: 1"])
    func openingPassesCaches(line: String) throws {
        let whole = bytes
        let server = try #require(
            RangeServer(whole) {
                $0.change = { number, _, answer in
                    if number == 0 { answer = .init(headers: [line], body: whole) }
                }
            }
        )
        if line == "X-None: 1" {
            #expect(message { _ = try open(server.address) }.contains("ignores Range") && server.asked.count == 1)
        } else {
            let (reader, beginning) = try open(server.address, retries: 0)
            #expect(beginning == Array(whole[..<1000]) && server.asked.count == 2)
            reader.stop()
        }
    }

    /// A server that has stopped to answer ranges for good: failures that may pass.
    @Test func wholeFilesForGoodAreTransient() throws {
        let whole = bytes
        let server = try #require(
            RangeServer(whole) { $0.change = { number, _, answer in if number > 0 { answer = .init(body: whole) } } }
        )
        let (reader, _) = try open(server.address, retries: 1)
        let answer = Awaited<RangeEnd>()
        reader.read(5..<9, for: RangeClient(isDemand: true)) { answer.set($0) }
        guard case .failed(.transient, let failure) = answer.wait() else {
            Issue.record("it may pass")
            return
        }
        // The first request, at once past caches, and one retry.
        #expect(failure.cause == .range && server.asked.count == 4 && reader.warning == nil)
    }

    /// A new file's tag is weak for a second; tags of a group of servers differ; a server keeps a tag for ever.
    @Test func tagsAndDatesAreCompared() throws {
        let (old, new) = ("Sun, 01 Nov 2026 10:00:00 GMT", "Sun, 01 Nov 2026 10:00:01 GMT")
        for (tags, dates, isChanged, isStorable) in [
            (["W/\"a\"", "\"a\"", "\"a\""], [old, old, old], false, true),
            (["W/\"a\"", "\"a\"", "\"b\""], [old, old, old], true, true),
            (["W/\"a\"", "W/\"b\"", "W/\"a\""], [old, old, old], false, true),
            (["W/\"a\"", "W/\"b\"", "W/\"a\""], [old, old, new], true, true),
            (["W/\"a\"", "W/\"b\"", "W/\"a\""], [nil, nil, nil], false, false),
            (["\"a\"", "\"a\"", "\"a\""], [old, old, new], true, true),
            ([nil, nil, nil], [nil, nil, nil], false, false),
            ([nil, nil, nil], [old, old, old], false, true),
            (["\"a\"", "\"a\"", "\"a\""], [new, old, old], false, true),
        ] as [([String?], [String?], Bool, Bool)] {
            let server = try #require(RangeServer(bytes) { ($0.entityTag, $0.lastModified) = (tags[0], dates[0]) })
            let (reader, _) = try open(server.address)
            for number in 1...2 {
                server.change { ($0.entityTag, $0.lastModified) = (tags[number], dates[number]) }
                let read = try? reader.readNow(5..<9)
                #expect((read == Array(bytes[5..<9])) == !(isChanged && number == 2), "\(tags) \(dates)")
            }
            #expect(reader.isStorable == isStorable, "\(tags) \(dates)")
            let warning = reader.warning ?? ""
            #expect(warning.contains("changed since it was opened; open it again, or, if a cache") == isChanged)
            #expect(warning.contains("no ETag that stays the same, and no Last-Modified") == !isStorable)
            reader.stop()
        }
    }

    /// The names of the data set are the same in the first second and later.
    @Test func aWeakTagIsTheSameName() throws {
        let server = try #require(RangeServer(bytes) { $0.entityTag = "W/\"a\"" })
        let names = try ["W/\"a\"", "\"a\"", "\"b\""].map { tag in
            server.change { $0.entityTag = tag }
            let (reader, _) = try open(server.address)
            reader.stop()
            return reader.dataSet
        }
        #expect(names[0] == names[1] && names[1] != names[2])
    }

    /// A server that states a coding, and sends fewer bytes than it says, is told for its coding.
    @Test func theHeadIsToldBeforeTheBody() throws {
        for (status, line, text, attempts) in [
            (206, "Content-Encoding: gzip", "Content-Encoding: gzip", 1), (403, "X: y", "the status 403", 1),
            (206, "X: y", "transfer closed", 3),
        ] {
            let start = counter.statistics.attempts
            let server = try #require(
                RangeServer(bytes) { content in
                    content.change = { _, _, answer in
                        answer.status = status
                        answer.headers.append(line)
                        answer.isCutOff = true
                    }
                }
            )
            let said = message { _ = try open(server.address) }
            #expect(
                said.lowercased().contains(text.lowercased()) || (status == 206 && said.contains("partial")),
                "\(said)"
            )
            #expect(counter.statistics.attempts - start == attempts, "\(said)")
        }
    }

    /// A file that is replaced while it is opened is opened again, once: no part of it is used yet.
    @Test func whatChangesWhileItIsOpenedIsOpenedAgain() throws {
        let file = bytes
        for (changes, isOpened) in [(1, true), (.max, false)] {
            let server = try #require(
                RangeServer(file) { content in
                    content.change = { number, _, answer in
                        let tag = number % 2 == 1 && number / 2 < changes ? "new" : "old"
                        answer.headers = answer.headers.filter { !$0.hasPrefix("ETag") } + ["ETag: \"\(tag)\""]
                    }
                }
            )
            func opened() throws -> [UInt8] {
                let http = HTTPTileOptions()
                return try ByteRangeReader.unchanged { () throws(TileSourceError) -> [UInt8] in
                    let (reader, _) = try ByteRangeReader.open(
                        server.address,
                        expecting: "a file",
                        first: 1000,
                        least: 10,
                        http: http,
                        counter: counter
                    )
                    defer { reader.stop() }
                    return try reader.readNow(2000..<2010)
                }
            }
            if isOpened {
                #expect(try opened() == Array(file[2000..<2010]) && server.asked.count == 4)
            } else {
                #expect(message { _ = try opened() }.contains("parts of different files came"))
                #expect(server.asked.count == 4)
            }
        }
    }

    /// A server, or a group of them with a cache, that does what it likes with each answer. The file is replaced now and then
    /// by one of the same size, all of whose bytes differ. Reads bring the bytes of one file, or fail; what is permanent is a
    /// change that has happened.
    @Test(arguments: [1, 2, 3, 4] as [UInt64], [Naming.strong, .weakByNode, .tagForEver, .dates])
    func randomAnswersNeverMixFiles(seed: UInt64, naming: Naming) throws {
        let size = 5000
        let whim = Lock((random: SplitMix64(seed: seed), version: 0, requests: 0))
        /// Byte of a version at a place: versions have no byte in common.
        @Sendable func byte(_ place: Int, _ version: Int) -> UInt8 { UInt8((place * 7 + version * 31) % 251) }
        let server = try #require(
            ModelServer { request in
                let ends = (request.headers["range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
                return whim.withLock { whim in
                    whim.requests += 1
                    let version = whim.version
                    let body = (0..<size).map { byte($0, version) }
                    let node = Int(whim.random.next() % 2)
                    let names = naming.lines(version, node: node)
                    switch whim.random.next() % 8 {
                    case 0: return .init(headers: names, body: body)
                    case 1: return .init(status: 503)
                    case 2: return .init(headers: ["ETag: \"page\""], body: [1, 2, 3])
                    default: break
                    }
                    let line = "Content-Range: bytes \(ends[0])-\(ends[1])/\(size)"
                    let status = whim.random.next() % 4 == 0 ? 200 : 206
                    let isCutOff = whim.random.next() % 8 == 0
                    return .init(
                        status: status,
                        headers: names + [line, "Via: 1.1 x"],
                        body: Array(body[ends[0]...ends[1]]),
                        isCutOff: isCutOff
                    )
                }
            }
        )
        var opened: ByteRangeReader?
        for _ in 0..<20 where opened == nil {
            opened = try? open("http://127.0.0.1:\(server.port)/file", first: 100, retries: 3).reader
        }
        let reader = try #require(opened, "seed \(seed)")
        // A page of three bytes is a short file, and stays one.
        guard reader.size == size else { return }
        var random = SplitMix64(seed: seed + 100)
        var hasChanged = false
        for number in 0..<40 {
            if number == 25 {
                whim.withLock { $0.version = 1 }
                hasChanged = true
            }
            let start = Int(random.next() % UInt64(size - 50))
            let answer = Awaited<RangeEnd>()
            reader.read(start..<start + 50, for: RangeClient(isDemand: true)) { answer.set($0) }
            switch answer.wait() {
            case .bytes(let got):
                #expect(got.array == (start..<start + 50).map { byte($0, 0) } && !hasChanged, "seed \(seed), \(naming)")
            case .failed(.permanent, let failure):
                #expect(failure.cause == .changed && hasChanged, "seed \(seed), \(naming): \(failure.message)")
            case .failed, .cancelled: break
            }
        }
        #expect(reader.warning?.contains("changed") == true, "seed \(seed), \(naming)")
        reader.stop()
    }

    /// How a server names a file's versions.
    enum Naming: CaseIterable, Sendable {
        case strong, weakByNode, tagForEver, dates

        func lines(_ version: Int, node: Int) -> [String] {
            let date = "Last-Modified: Sun, 01 Nov 2026 10:00:0\(version) GMT"
            return switch self {
            case .strong: ["ETag: \(node == 0 ? "W/" : "")\"\(version)\"", date]
            case .weakByNode: ["ETag: W/\"\(node)-\(version)\"", date]
            case .tagForEver: ["ETag: \"1\"", date]
            case .dates: [date]
            }
        }
    }
}
