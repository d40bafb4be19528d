import Dispatch
import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

@Suite struct DiskThreadTests {
    /// Threads with all operations at once find their keys' entries, or none.
    @Test func callsFromManyThreads() throws {
        let folder = ScratchFolder()
        var options = TileDiskStoreOptions.test()
        options.writeDelay = .zero
        options.readers = 2
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(6), options: options)
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            var random = SplitMix64(seed: UInt64(thread))
            for step in 0..<150 {
                let key = MadeEntry.key(random.below(100), namespace: thread % 3)
                switch random.below(40) {
                case 0: store.remove([key])
                case 1: _ = try? store.setByteLimit(.bytes(5 << 20 + random.below(1 << 20)))
                case 2: store.renew(key, TileStoreFreshness(stored: Int64(step)))
                case 3: _ = store.statistics
                case 4: store.flush()
                case 5..<20:
                    store.put(key, MadeEntry.bytes(key, version: UInt64(step), count: 8 + random.below(60_000)))
                default:
                    _ = store.presence(of: key)
                    if let bytes = store.bytes(key) { #expect(MadeEntry.isGenuine(bytes, key), "thread \(thread)") }
                }
            }
        }
        store.flush()
        let counts = store.statistics
        #expect(counts.failures == 0 && counts.resets == 0, "\(store.lastFailure ?? "")")
        #expect(Set(counts.misses.keys).isSubset(of: [.absent]))
        #expect(folder.byteCount <= 6 << 20)
    }
}
