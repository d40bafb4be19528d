import TestSupport
import Testing
import TileCache

@testable import TileSharedStore

@Suite struct SharedServerTests {
    @Test(arguments: [
        ("cache", "cache", 11211, "cache:11211"), ("10.0.0.1:1", "10.0.0.1", 1, "10.0.0.1:1"),
        ("[::1]:65535", "::1", 65535, "[::1]:65535"), ("[fe80::2]", "fe80::2", 11211, "[fe80::2]:11211"),
    ]) func addressesAreRead(text: String, host: String, port: Int, description: String) throws {
        let server = try SharedServer(text)
        #expect(server == SharedServer(host: host, port: port))
        #expect(server.description == description)
    }

    @Test(arguments: [
        "", ":11211", "a:", "a:0", "a:65536", "a:1x", "a:+80", "a:-1", "a:٣", "::1", "[::1", "[::1]x", "a b",
        "/tmp/socket", "--SERVER=x", "[]:1",
    ]) func othersAreErrorsThatNameThem(text: String) {
        let error = #expect(throws: TileSharedStoreError.self) { try SharedServer(text) }
        #expect(error?.description.contains("'\(text)'") == true)
    }

    @Test func listsAreReadWhole() throws {
        #expect(try SharedServer.list("a,b:2").map(\.description) == ["a:11211", "b:2"])
        #expect(throws: TileSharedStoreError.self) { try SharedServer.list("a,,b") }
        #expect(throws: TileSharedStoreError.self) { try SharedServer.list("") }
        #expect(throws: TileSharedStoreError.self) {
            try SharedServer.list(Array(repeating: "a", count: 101).joined(separator: ","))
        }
    }

    @Test func settingsOutOfRangeAreRefused() {
        let server = SharedServer(host: "localhost")
        func refuses(_ change: (inout TileSharedStoreOptions) -> Void) -> Bool {
            var options = TileSharedStoreOptions()
            change(&options)
            return (try? TileSharedStore([server], options: options)) == nil
        }
        #expect(!refuses { _ in })
        #expect(refuses { $0.answerTime = .microseconds(999) } && !refuses { $0.answerTime = .milliseconds(1) })
        #expect(refuses { $0.connections = 0 } && refuses { $0.connections = 65 })
        #expect(refuses { $0.largestEntry = .bytes(1023) } && !refuses { $0.largestEntry = .bytes(1024) })
        #expect(refuses { $0.writeBuffer = .bytes($0.largestEntry.bytes - 1) })
        #expect(!refuses { $0.writeBuffer = $0.largestEntry })
        #expect(refuses { $0.loadTime = .milliseconds(999) } && refuses { $0.longestWait = .seconds(3601) })
        #expect((try? TileSharedStore([])) == nil)
        #expect((try? TileSharedStore(Array(repeating: server, count: 100))) != nil)
        #expect((try? TileSharedStore(Array(repeating: server, count: 101))) == nil)
    }

    /// The ring that Docs/Stores.md describes: another client that makes it so finds the tiles.
    @Test func keysAreSpreadByThePlainKetama() throws {
        let servers = [
            SharedServer(host: "10.0.0.1"), SharedServer(host: "10.0.0.2"), SharedServer(host: "cache", port: 11300),
        ]
        func hash(_ text: String) -> UInt32 {
            var hash: UInt32 = 0
            for byte in text.utf8 {
                hash &+= UInt32(byte)
                hash &+= hash << 10
                hash ^= hash >> 6
            }
            hash &+= hash << 3
            hash ^= hash >> 11
            return hash &+ hash << 15
        }
        let names = ["10.0.0.1", "10.0.0.2", "cache:11300"]
        let ring = names.enumerated().flatMap { server, name in
            (0..<100).map { (place: hash("\(name)-\($0)"), server: server) }
        }
        .sorted { $0.place < $1.place }
        let connection = try SharedConnection(servers, TileSharedStoreOptions())
        var counts = [0, 0, 0]
        for number in 0..<1000 {
            let key = "tile \(number)".replacing(" ", with: "-")
            let expected = ring.first { $0.place >= hash(key) } ?? ring[0]
            #expect(connection.server(of: key) == expected.server, "\(key)")
            counts[expected.server] += 1
        }
        #expect(counts.allSatisfy { $0 > 200 })
    }

    /// The loss of a server that had all copies would bring invalidated entries of the others back.
    @Test(arguments: [1, 2, 3, 4, 5, 100]) func copiesOfAGenerationAreOnDifferentServers(count: Int) throws {
        let servers = (1...count).map { SharedServer(host: "10.0.0.1", port: $0) }
        let connection = try SharedConnection(servers, TileSharedStoreOptions())
        for low in 0..<100 as Range<UInt64> {
            let names = connection.generationNames(of: TileStoreNamespace(high: 1, low: low))
            let holders = Set(names.map { connection.server(of: $0) })
            #expect(names.count == min(count, 4) && holders.count == names.count)
        }
    }

    #if os(Linux)
        /// A server that neither accepts nor refuses a connection costs the time that connecting may take.
        @Test func connectingEndsInItsTime() throws {
            let listener = try FullListener()
            defer { withExtendedLifetime(listener) {} }
            let options = TileSharedStoreOptions(answerTime: .seconds(60), connectTime: .milliseconds(20))
            let connection = try SharedConnection([SharedServer(host: "127.0.0.1", port: listener.port)], options)
            // Without it libmemcached takes four seconds. On a busy machine some attempts may, but not all.
            let isShort = (0..<20).contains { _ in
                ContinuousClock().measure { #expect(connection.value(of: "a").0 == .failed) } < .seconds(4)
            }
            #expect(isShort)
        }
    #endif

    @Test(arguments: [Int.min, -1, 0, 65_536, 70_000, .max]) func portsOutOfRangeAreRefused(port: Int) {
        let servers = [SharedServer(host: "a"), SharedServer(host: "b", port: port)]
        let error = #expect(throws: TileSharedStoreError.self) { try TileSharedStore(servers) }
        #expect(error?.description == "server 'b:\(port)': a port from 1 to 65535 was expected")
    }
}
