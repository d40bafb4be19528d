import Foundation
import TestSupport
import Testing

@testable import TileCache
@testable import TileSharedStore

/// Which entries a server takes, gives and keeps.
extension TileSharedStoreTests {
    @Test func aRenewalKeepsThePayload() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let one = try store([server.port])
        #expect(put(one, 1, 7) == .accepted)
        let later = TileStoreFreshness(stored: 9, expires: 4_000_000_000, entityTag: "x")
        one.renew(key(1), later)
        one.close()
        var freshness: TileStoreFreshness?
        _ = try store([server.port]).get(key(1), shape: shape, deadline: nil) { freshness = $0.freshness }
        #expect(freshness == later)
    }

    /// Another process removes or replaces an entry while it is renewed.
    @Test func aRenewalBringsNothingBack() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let (one, other) = (try connection(to: server), try connection(to: server))
        func set(_ text: String) -> SharedAnswer { Array(text.utf8).withUnsafeBytes { other.set("a", $0) } }
        func value() -> String? { other.value(of: "a").1.map { String(decoding: $0.bytes, as: UTF8.self) } }
        #expect(set("old") == .done)
        let unchanged = one.change("a") { bytes in (bytes.map { Array($0) + [33] } ?? [], 0) }
        #expect(unchanged == .done && value() == "old!")
        let replaced = one.change("a") { _ in
            #expect(set("new") == .done)
            return ([33], 0)
        }
        #expect(replaced == .missing && value() == "new")
        let removed = one.change("a") { _ in
            #expect(other.remove("a") == .done)
            return ([33], 0)
        }
        #expect(removed == .missing && value() == nil)
        #expect(one.change("a") { _ in nil } == .missing && value() == nil)
    }

    /// A value that is not an entry of this tile is a miss. Its cause is counted.
    @Test func foreignValuesAreMisses() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let one = try store([server.port])
        #expect(put(one, 1, 7) == .accepted && put(one, 2, 8) == .accepted)
        one.close()
        let connection = try connection(to: server)
        let value = try #require(connection.value(of: SharedName.entry(key(1))).1)
        var bytes = Array(value.bytes)
        func replace(_ bytes: [UInt8]) throws -> Result<UInt8, TileStoreMiss> {
            _ = bytes.withUnsafeBytes { connection.set(SharedName.entry(key(2)), $0) }
            _ = connection.remove(SharedName.lock(key(2)))
            return get(try store([server.port]), 2)
        }
        #expect(try replace(bytes) == .failure(.foreignKey))
        #expect(try replace(Array("<html>".utf8)) == .failure(.truncated))
        var random = SplitMix64(seed: 3)
        for _ in 0..<100 {
            let bit = Int(random.next() % UInt64(bytes.count * 8))
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: TileStoreMiss.self) { try replace(bytes).get() }
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }

    /// As many look-ups may lend a value as there are threads, whatever the number of connections.
    @Test func whatIsLentCountsAsMemory() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let one = try store([server.port])
        #expect(put(one, 1, 7) == .accepted)
        one.close()
        let other = try store([server.port])
        let before = other.statistics.memorySize
        var lent = 0
        let miss = other.get(key(1), shape: shape, deadline: nil) { entry in
            lent = (entry.encoded()?.count ?? 0) + before.bytes
            #expect(other.statistics.memorySize.bytes == lent)
        }
        #expect(miss == nil && lent > before.bytes && other.statistics.memorySize == before)
    }

    @Test func entriesBeyondTheLimitsAreRefusedOrDropped() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let small = try store([server.port]) { ($0.largestEntry, $0.writeBuffer) = (.bytes(1024), .bytes(1024)) }
        #expect(put(small, 1, 1) == .accepted)
        let large = TileStoreShape(format: .gray8, alpha: .ignored, width: 30, height: 31)
        [UInt8](repeating: 1, count: 930).withUnsafeBytes {
            let entry = TileStoreEntry(
                key: key(2),
                shape: large,
                generation: 0,
                freshness: TileStoreFreshness(stored: 5),
                kind: .pixels,
                payload: $0
            )
            #expect(small.put(entry, cost: .zero) == .refused)
        }
        // Waits for a stopped server are bounded.
        server.send(SIGSTOP)
        let puts = (0..<20).map { put(small, $0, 1) }
        #expect(puts.contains(.dropped))
        // For each of five connections an entry, tables and spare memory.
        #expect(small.statistics.memorySize <= .bytes(1024 + 5 * (1024 + 84 * 1024)))
    }

    /// A value that another process stored with a higher limit gets no memory.
    @Test func valuesAboveTheLimitAreMisses() throws {
        let server = try MemcachedServer(options: ["-I", "8m"])
        defer { server.end() }
        let large = TileStoreShape(format: .gray8, alpha: .ignored, width: 2048, height: 1536)
        let other = try store([server.port]) { $0.largestEntry = .mebibytes(4) }
        [UInt8](repeating: 1, count: 2048 * 1536).withUnsafeBytes {
            let entry = TileStoreEntry(
                key: key(1),
                shape: large,
                generation: 0,
                freshness: TileStoreFreshness(stored: 5),
                kind: .pixels,
                payload: $0
            )
            #expect(other.put(entry, cost: .zero) == .accepted)
        }
        other.close()
        #expect(other.statistics.writes == 1)
        let one = try store([server.port])
        #expect(one.get(key(1), shape: large, deadline: nil) { _ in } == .absent)
        // The store works on.
        while get(one, 2) != .success(3) { _ = put(one, 2, 3) }
    }

    /// As an HTTP tile with `no-cache` and an ETag, which has expired when it is stored.
    @Test func entriesToBeRevalidatedStayOnTheServer() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let one = try store([server.port])
        let now = Int64(time(nil))
        let freshness = TileStoreFreshness(stored: now, expires: now, usableUntil: now, entityTag: "x")
        #expect(put(one, 1, 7, freshness: freshness) == .accepted && put(one, 2, 8) == .accepted)
        one.renew(key(2), freshness)
        one.close()
        let other = try store([server.port])
        #expect(get(other, 1) == .success(7) && get(other, 2) == .success(8))
    }
}
