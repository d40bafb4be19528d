import Foundation
import TestSupport
import Testing

@testable import TileCache
@testable import TileSharedStore

/// Stores on real servers; skipped if memcached is not installed.
@Suite(.enabled(if: MemcachedServer.program != nil, "memcached is not installed"), .timeLimit(.minutes(45)))
struct TileSharedStoreTests {
    let shape = TileStoreShape(format: .gray8, alpha: .ignored, width: 16, height: 16)
    let namespace = TileStoreNamespace(high: 1, low: 2)

    func key(_ column: Int) -> TileStoreKey {
        TileStoreKey(namespace: namespace, tile: TileCoordinate(level: 3, column: column, row: 7))
    }

    func put(
        _ store: TileSharedStore,
        _ column: Int,
        _ value: UInt8,
        generation: UInt64 = 0,
        freshness: TileStoreFreshness = TileStoreFreshness(stored: 5)
    ) -> TileStorePut {
        [UInt8](repeating: value, count: 256).withUnsafeBytes {
            store.put(
                TileStoreEntry(
                    key: key(column),
                    shape: shape,
                    generation: generation,
                    freshness: freshness,
                    kind: .pixels,
                    payload: $0
                ),
                cost: .milliseconds(1)
            )
        }
    }

    /// Value of a tile, or the reason for its absence.
    func get(_ store: TileSharedStore, _ column: Int, wait: Duration = .zero) -> Result<UInt8, TileStoreMiss> {
        var value: UInt8?
        let end = MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds + (wait + .seconds(60)).nanoseconds)
        let miss = store.get(key(column), shape: shape, deadline: wait == .zero ? nil : end) { entry in
            #expect(entry.payload.count == 256 && entry.payload.allSatisfy { $0 == entry.payload[0] })
            value = entry.payload[0]
        }
        return value.map { .success($0) } ?? .failure(miss ?? .failed)
    }

    func connection(to server: MemcachedServer) throws -> SharedConnection {
        try SharedConnection([SharedServer(host: "127.0.0.1", port: server.port)], Self.patient)
    }

    // Other tests use the machine at the same time, so an answer may be slow.
    private static let patient = TileSharedStoreOptions(
        answerTime: .seconds(10),
        connectTime: .seconds(10),
        longestWait: .zero
    )

    func store(_ ports: [Int], _ change: (inout TileSharedStoreOptions) -> Void = { _ in }) throws
        -> TileSharedStore
    {
        var options = Self.patient
        change(&options)
        return try TileSharedStore(ports.map { SharedServer(host: "127.0.0.1", port: $0) }, options: options)
    }

    @Test func whatOneProcessStoresAnotherFinds() throws {
        let servers = try (0..<4).map { _ in try MemcachedServer() }
        defer { for server in servers { server.end() } }
        let (one, other) = (try store(servers.map(\.port)), try store(servers.map(\.port)))
        for column in 0..<64 {
            #expect(get(one, column) == .failure(.absent))
            #expect(put(one, column, UInt8(column)) == .accepted)
        }
        one.close()
        for column in 0..<64 { #expect(get(other, column) == .success(UInt8(column))) }
        #expect(one.statistics.writes == 64 && other.statistics.hits == 64)
        #expect(other.serverStates == [.closed, .closed, .closed, .closed])
        #expect(get(one, 1) == .failure(.closed))
    }

    /// A look-up that has ended has given its connection back.
    @Test func lookUpsInTurnNeedOneConnection() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let writer = try store([server.port])
        #expect(put(writer, 1, 7) == .accepted)
        writer.close()
        let reader = try store([server.port]) { $0.connections = 1 }
        let found = (0..<5000).count { _ in get(reader, 1) == .success(7) }
        #expect(found == 5000)
    }

    /// Only the breakers say when a server is asked again. If libmemcached left one out, others would get its keys.
    @Test func aServerThatIsBackIsAskedAtOnce() throws {
        var server = try MemcachedServer()
        defer { server.end() }
        let connection = try connection(to: server)
        #expect(connection.value(of: "a").0 == .missing)
        server.end()
        for _ in 0..<5 { #expect(connection.value(of: "a").0 == .failed) }
        server = try MemcachedServer(port: server.port)
        #expect(connection.value(of: "a").0 == .missing)
    }

    /// The first miss loads; the others wait for its entry.
    @Test func aTileIsLoadedOnceForAll() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let stores = try (0..<6).map { _ in try store([server.port]) }
        let loads = Lock(0)
        for column in 0..<8 {
            DispatchQueue.concurrentPerform(iterations: stores.count) { index in
                let result = get(stores[index], column, wait: .seconds(20))
                if result == .failure(.absent) {
                    loads.withLock { $0 += 1 }
                    _ = put(stores[index], column, 9)
                } else {
                    #expect(result == .success(9))
                }
            }
        }
        #expect(loads.withLock { $0 } == 8)
    }

    /// A process that ended during a load does not keep others from the tile.
    @Test func aWaiterStopsAtItsDeadline() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let (one, other) = (try store([server.port]), try store([server.port]))
        #expect(get(one, 1) == .failure(.absent))
        #expect(get(other, 1) == .failure(.late))
        #expect(other.statistics.misses == [.late: 1])
    }

    /// A look-up that waits for another process does not stop because another look-up has the only connection.
    @Test func aWaiterThatFindsNoConnectionWaitsOn() throws {
        let isTaken = Lock(true)
        let hasAsked = DispatchSemaphore(value: 0)
        let listener = try LoopbackListener { connection in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while case let count = read(connection, &bytes, bytes.count), count > 0 {
                let command = String(decoding: bytes[..<count], as: UTF8.self)
                var answer = ""
                if command.hasPrefix("get ") { answer = "END\r\n" }
                if command.hasPrefix("add ") { answer = "STORED\r\n" }
                if command.hasPrefix("add "), command.contains(":3:1:7 "), isTaken.withLock({ $0 }) {
                    answer = "NOT_STORED\r\n"
                    hasAsked.signal()
                }
                // Meanwhile the waiter asks several times.
                if command.hasPrefix("get tc1:"), command.contains(":3:2:7") { usleep(50_000) }
                if send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL)) < 0 { return }
            }
        }
        let one = try store([listener.port]) { $0.connections = 1 }
        let result = Lock<Result<UInt8, TileStoreMiss>?>(nil)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let found = get(one, 1, wait: .seconds(600))
            result.withLock { $0 = found }
            hasEnded.signal()
        }
        hasAsked.wait()
        while get(one, 2) == .failure(.late) {}
        isTaken.withLock { $0 = false }
        hasEnded.wait()
        #expect(result.withLock { $0 } == .failure(.absent))
    }

    /// Deadlines at the ends of their range neither trap nor wait.
    @Test func extremeDeadlines() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let one = try store([server.port])
        for (column, nanoseconds) in [Int64.max, .max - 1, .min + 1, .min].enumerated() {
            let miss = one.get(key(column), shape: shape, deadline: MonotonicTime(nanoseconds: nanoseconds)) { _ in }
            // The answer may arrive before a passed deadline is noticed.
            #expect(miss == .absent || nanoseconds < 0 && miss == .late, "\(nanoseconds)")
        }
    }

    /// A caller's deadline before the server's answer is not a failure of the server.
    @Test func earlyDeadlinesAreNoFailures() throws {
        let listener = try LoopbackListener { connection in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while case let count = read(connection, &bytes, bytes.count), count > 0 {
                let command = bytes[..<count]
                var answer = ""
                if command.starts(with: Array("get ".utf8)) { answer = "END\r\n" }
                if command.starts(with: Array("add ".utf8)) { answer = "STORED\r\n" }
                usleep(20_000)
                if send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL)) < 0 { return }
            }
        }
        let one = try store([listener.port])
        for column in 0..<8 {
            let end = MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds + 1_000_000)
            // Late, unless the machine is.
            _ = one.get(key(column), shape: shape, deadline: end) { _ in }
        }
        while get(one, 9) != .failure(.absent) {}
        #expect(one.statistics.failures == 0 && one.serverStates == [.closed])
    }

    /// Each kind of failure is a miss. After a few the server is not asked, and once it works it is asked again.
    @Test(arguments: ["killed", "stopped", "garbage", "huge", "silent"]) func troubleIsAMissAndEnds(kind: String) throws
    {
        var server: MemcachedServer? = try MemcachedServer()
        // Until the end of the test: a server ends with its last reference.
        defer { server?.end() }
        let port: Int
        var listener: LoopbackListener?
        switch kind {
        case "garbage":
            listener = try LoopbackListener { connection in
                var bytes = [UInt8](repeating: 0, count: 4096)
                var random = SplitMix64(seed: 5)
                while read(connection, &bytes, bytes.count) > 0 {
                    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
                    if send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) < 0 { return }
                }
            }
        case "huge":
            listener = try LoopbackListener { connection in
                var bytes = [UInt8](repeating: 0, count: 4096)
                while read(connection, &bytes, bytes.count) > 0 {
                    let text = Array("VALUE tc1:0 0 2000000000\r\n".utf8)
                    if send(connection, text, text.count, Int32(MSG_NOSIGNAL)) < 0 { return }
                    for _ in 0..<256 where send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) < 0 { return }
                }
            }
        case "silent":
            listener = try LoopbackListener { connection in
                var bytes = [UInt8](repeating: 0, count: 4096)
                while read(connection, &bytes, bytes.count) > 0 {}
            }
        default: break
        }
        port = listener?.port ?? server!.port
        let one = try store([port]) {
            $0.answerTime = .milliseconds(kind == "stopped" || kind == "silent" ? 5 : 1000)
            $0.connectTime = .milliseconds(1000)
        }
        if kind == "killed" { server?.end() }
        if kind == "stopped" { server?.send(SIGSTOP) }
        for column in 0..<12 where one.serverStates != [.open] {
            let result = get(one, column)
            #expect(throws: TileStoreMiss.self) { try result.get() }
        }
        // A late look-up may still be in flight.
        while one.serverStates == [.closed] { _ = get(one, 13) }
        #expect(one.statistics.hits == 0 && one.statistics.failures >= 3)
        #expect(one.presence(of: key(1)) != .present)
        guard kind == "stopped" || kind == "killed" else { return }
        if kind == "killed" {
            server = nil
            server = try MemcachedServer(port: port)
        } else {
            server?.send(SIGCONT)
        }
        while get(one, 20) != .success(3) { _ = put(one, 20, 3) }
        #expect(one.serverStates == [.closed])
    }
}
