import Foundation
import Testing
import TileCache

@testable import TileSharedStore

/// Generations of data that several processes use.
extension TileSharedStoreTests {
    @Test func invalidationReachesOthersAndOutlivesTheProcess() throws {
        let servers = try (0..<2).map { _ in try MemcachedServer() }
        defer { for server in servers { server.end() } }
        let one = try store(servers.map(\.port))
        #expect(put(one, 1, 1) == .accepted)
        #expect(one.generation(of: namespace) == 0)
        #expect(one.raiseGeneration(of: namespace, to: 3))
        #expect(get(one, 1) == .failure(.oldGeneration))
        #expect(put(one, 1, 1, generation: 2) == .refused)
        #expect(put(one, 2, 2, generation: 3) == .accepted)
        one.close()
        let other = try store(servers.map(\.port))
        #expect(get(other, 1) == .failure(.oldGeneration) && get(other, 2) == .success(2))
        #expect(other.generation(of: namespace) == 3)
        other.remove([key(2)])
        #expect(get(other, 2) == .failure(.absent))
        #expect(other.remove(namespace) && other.generation(of: namespace) == 4)
        // Nothing could be newer than the highest one of all: it is taken for damage.
        let highest: UInt64 = 1 << 62
        #expect(!other.raiseGeneration(of: namespace, to: highest + 1) && other.generation(of: namespace) == 4)
        #expect(other.raiseGeneration(of: namespace, to: highest) && !other.remove(namespace))
    }

    /// An invalidation compares its generation with what others have stored by then.
    @Test func aGenerationIsThatOfTheServers() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let (one, other) = (try store([server.port]), try store([server.port]))
        for generation in 1...3 as ClosedRange<UInt64> {
            #expect(one.generation(of: namespace) == generation - 1)
            #expect(other.raiseGeneration(of: namespace, to: generation))
        }
    }

    /// Processes that raise a generation at the same time leave the highest one.
    @Test func theHighestGenerationStays() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let stores = try (0..<4).map { _ in try store([server.port]) }
        let reader = try connection(to: server)
        for round in 0..<100 as Range<UInt64> {
            DispatchQueue.concurrentPerform(iterations: stores.count) { index in
                #expect(stores[index].raiseGeneration(of: namespace, to: 4 * round + UInt64(index) + 1))
            }
            for name in reader.generationNames(of: namespace) {
                let value = try #require(reader.value(of: name).1)
                #expect(SharedConnection.generation(value.bytes) == 4 * round + 4)
            }
        }
    }

    /// A server that was restarted gets its copy from a process that knows the generation.
    @Test func lostCopiesOfAGenerationAreStoredAgain() throws {
        let server = try MemcachedServer()
        defer { server.end() }
        let one = try store([server.port])
        #expect(one.raiseGeneration(of: namespace, to: 3))
        let connection = try connection(to: server)
        for name in connection.generationNames(of: namespace) { #expect(connection.remove(name) == .done) }
        #expect(one.generation(of: namespace) == 3)
        #expect(try store([server.port]).generation(of: namespace) == 3)
    }

    @Test(arguments: [[UInt8](repeating: 255, count: 8), [1, 2, 3], []]) func damagedGenerations(bytes: [UInt8]) throws
    {
        let server = try MemcachedServer()
        defer { server.end() }
        let connection = try connection(to: server)
        for name in connection.generationNames(of: namespace) {
            #expect(bytes.withUnsafeBytes { connection.set(name, $0) } == .done)
        }
        let one = try store([server.port])
        #expect(one.generation(of: namespace) == 0 && one.remove(namespace))
        #expect(try store([server.port]).generation(of: namespace) == 1)
    }
}
