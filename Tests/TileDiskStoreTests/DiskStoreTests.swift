import Foundation
import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

@Suite struct DiskStoreTests {
    private static let limit = ByteCount.mebibytes(8)

    private static func open(
        _ folder: ScratchFolder,
        _ disk: FaultyDisk? = nil,
        limit: ByteCount = limit
    ) throws -> TileDiskStore {
        try TileDiskStore(path: folder.path, byteLimit: limit, options: .test(disk))
    }

    @Test func anEntryOutlivesTheStore() throws {
        let folder = ScratchFolder()
        let key = MadeEntry.key(1)
        let bytes = MadeEntry.bytes(key, version: 1, count: 90_000)
        let freshness = TileStoreFreshness(stored: 5, expires: 6, entityTag: "x")
        do {
            let store = try Self.open(folder)
            #expect(store.cause(key) == .absent)
            #expect(store.put(key, bytes, freshness: freshness) == .accepted)
            #expect(store.bytes(key) == bytes, "from the buffer")
            store.flush()
            #expect(store.bytes(key) == bytes, "from the disk")
            #expect(store.statistics.writes == 1 && store.statistics.hits == 2 && store.statistics.entries == 1)
            store.put(MadeEntry.key(2), MadeEntry.bytes(MadeEntry.key(2), version: 1, count: 10))
        }
        let store = try Self.open(folder)
        let found = try store.find(key).get()
        #expect(found.bytes == bytes && found.freshness == freshness)
        #expect(store.bytes(MadeEntry.key(2)) != nil, "written by closing")
        #expect(store.cause(MadeEntry.key(1, namespace: 1)) == .absent)
        var shape = MadeEntry.shape
        shape.width = 128
        #expect(store.get(key, shape: shape, deadline: nil) { _ in } == .wrongShape)
        store.close()
        #expect(store.cause(key) == .closed)
        #expect(store.put(key, bytes) == .refused)
        store.close()
    }

    /// In any order of writes, the newest entry has the last freshness.
    @Test func renewalsAndEntriesKeepTheirOrder() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        let (first, second) = (
            TileStoreFreshness(stored: 1, entityTag: "1"), TileStoreFreshness(stored: 2, entityTag: "2")
        )
        let (key, other) = (MadeEntry.key(1), MadeEntry.key(2))
        store.put(key, MadeEntry.bytes(key, version: 1, count: 500))
        store.flush()
        store.renew(key, first)
        store.put(key, MadeEntry.bytes(key, version: 2, count: 500), freshness: second)
        store.put(other, MadeEntry.bytes(other, version: 1, count: 500), freshness: first)
        store.renew(other, second)
        store.flush()
        #expect(try store.find(key).get().freshness == second)
        #expect(try store.find(other).get().freshness == second)
    }

    @Test func nothingIsWrittenTwice() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        let key = MadeEntry.key(1)
        let bytes = MadeEntry.bytes(key, version: 1, count: 200_000)
        store.put(key, bytes)
        store.flush()
        let before = disk.state.withLock { $0.writtenBytes }
        store.put(key, bytes)
        store.flush()
        #expect(disk.state.withLock { $0.writtenBytes } == before)
        // A new freshness takes a few pages; the payload has 13.
        store.renew(key, TileStoreFreshness(stored: 9, expires: 10))
        store.flush()
        #expect(disk.state.withLock { $0.writtenBytes } - before < 6 * 16_384)
        #expect(try store.find(key).get().freshness == TileStoreFreshness(stored: 9, expires: 10))
        #expect(store.bytes(key) == bytes)
        let counts = store.statistics
        #expect(counts.writes == 1 && counts.unchanged == 1 && counts.renewals == 1)
        // Other bytes or another generation are a new entry.
        store.put(key, MadeEntry.bytes(key, version: 2, count: 200_000))
        store.flush()
        #expect(store.statistics.writes == 2)
        #expect(store.bytes(key).map(MadeEntry.version) == 2)
    }

    @Test func generationsSurviveARestart() throws {
        let folder = ScratchFolder()
        let (key, other) = (MadeEntry.key(1), MadeEntry.key(1, namespace: 1))
        let bytes = MadeEntry.bytes(key, version: 1, count: 1000)
        do {
            let store = try Self.open(folder)
            store.put(key, bytes)
            store.put(other, bytes)
            store.flush()
            #expect(store.raiseGeneration(of: key.namespace, to: 3))
            #expect(store.cause(key) == .oldGeneration && store.bytes(other) == bytes)
            #expect(store.put(key, bytes, generation: 2) == .refused)
            #expect(store.raiseGeneration(of: key.namespace, to: 2))
            #expect(!store.raiseGeneration(of: key.namespace, to: .max))
            #expect(store.generation(of: key.namespace) == 3)
        }
        let store = try Self.open(folder)
        #expect(store.generation(of: key.namespace) == 3 && store.generation(of: other.namespace) == 0)
        #expect(store.cause(key) == .oldGeneration && store.bytes(other) == bytes)
        // An invalidation while an entry is in the buffer.
        #expect(store.put(key, bytes, generation: 3) == .accepted)
        #expect(store.raiseGeneration(of: key.namespace, to: 4))
        #expect(store.cause(key) == .oldGeneration)
        store.flush()
        #expect(store.cause(key) == .oldGeneration)
        #expect(store.put(key, bytes, generation: 4) == .accepted)
        store.flush()
        #expect(store.bytes(key) == bytes)
    }

    @Test func removal() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        for number in 0..<600 {
            let key = MadeEntry.key(number, namespace: number % 2)
            store.put(key, MadeEntry.bytes(key, version: 1, count: 300))
            if number == 400 { store.flush() }
        }
        store.remove([MadeEntry.key(0), MadeEntry.key(598), MadeEntry.key(2000)])
        #expect(store.cause(MadeEntry.key(0)) == .absent && store.cause(MadeEntry.key(598)) == .absent)
        store.flush()
        #expect(store.statistics.entries == 598)
        store.remove(MadeEntry.namespaces[1])
        store.flush()
        #expect(store.statistics.entries == 298)
        for number in 1..<598 {
            let key = MadeEntry.key(number, namespace: number % 2)
            #expect((store.bytes(key) != nil) == (number % 2 == 0))
        }
    }

    /// Without I/O: unknown, then as the store is.
    @Test func presence() throws {
        let folder = ScratchFolder()
        do {
            let store = try Self.open(folder, limit: .mebibytes(32))
            for number in 0..<9000 {
                let key = MadeEntry.key(number)
                store.put(key, MadeEntry.bytes(key, version: 1, count: 20))
                if number % 2000 == 0 { store.flush() }
            }
        }
        let store = try Self.open(folder, limit: .mebibytes(32))
        // Its steps alternate with other queued work.
        store.completeFilter()
        for number in 0..<9000 { #expect(store.presence(of: MadeEntry.key(number)) == .present) }
        let wrong = (9000..<19_000).count { store.presence(of: MadeEntry.key($0)) == .present }
        #expect(wrong < 100)
        let counts = store.statistics
        #expect(counts.entries == 9000)
        store.remove([MadeEntry.key(77)])
        #expect(store.presence(of: MadeEntry.key(77)) == .absent)
        let key = MadeEntry.key(50_000)
        store.put(key, MadeEntry.bytes(key, version: 1, count: 20))
        #expect(store.presence(of: key) == .present)
        store.flush()
        #expect(store.presence(of: key) == .present)
    }

    /// The filter is complete if entries are added and removed while it is built.
    @Test func presenceWhileTheFilterIsBuilt() throws {
        let folder = ScratchFolder()
        func fill(_ store: TileDiskStore, _ numbers: Range<Int>) {
            for number in numbers {
                let key = MadeEntry.key(number)
                store.put(key, MadeEntry.bytes(key, version: 1, count: 20))
            }
        }
        do {
            let store = try Self.open(folder, limit: .mebibytes(32))
            fill(store, 0..<9000)
        }
        let store = try Self.open(folder, limit: .mebibytes(32))
        fill(store, 9000..<9500)
        store.flush()
        store.remove((0..<200).map { MadeEntry.key($0 * 7) })
        store.completeFilter()
        for number in 0..<9500 where number % 7 != 0 || number >= 1400 {
            #expect(store.presence(of: MadeEntry.key(number)) == .present)
        }
        #expect((0..<200).count { store.presence(of: MadeEntry.key($0 * 7)) == .present } < 5)
    }

    @Test func whatIsExpensiveStays() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder, limit: .mebibytes(4))
        // 40 expensive entries among cheap ones that would fill the store ten times.
        for number in 0..<1040 {
            let key = MadeEntry.key(number)
            let cost: Duration = 20..<60 ~= number ? .milliseconds(500) : .milliseconds(5)
            store.put(key, MadeEntry.bytes(key, version: 1, count: 30_000), cost: cost)
            if number % 20 == 0 { store.flush() }
        }
        store.flush()
        let kept = (20..<60).count { store.bytes(MadeEntry.key($0)) != nil }
        #expect(kept == 40)
        #expect(store.statistics.evictions > 900)
        #expect(store.bytes(MadeEntry.key(1039)) != nil)
    }

    /// Tiles of a block of 8 x 8 have adjacent numbers. The first of them are not evicted before the others.
    @Test func whatIsExpensiveStaysAtTheBeginningOfABlock() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder, limit: .mebibytes(4))
        var expensive: [TileStoreKey] = []
        // Three times what the store holds, in 48 blocks of which the first four tiles are expensive.
        for row in 0..<32 {
            for column in 0..<96 {
                let key = MadeEntry.key(100 * row + column)
                let isExpensive = row % 8 == 0 && column % 8 < 4
                if isExpensive { expensive.append(key) }
                let cost: Duration = isExpensive ? .milliseconds(500) : .milliseconds(5)
                store.put(key, MadeEntry.bytes(key, version: 1, count: 2500), cost: cost)
            }
            store.flush()
        }
        let counts = store.statistics
        #expect(counts.evictions > 1500 && counts.entries ?? 0 > 256)
        let kept = expensive.count { store.bytes($0) != nil }
        #expect(kept > 180, "\(kept) of \(expensive.count)")
    }

    @Test func whatIsUsedStays() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder, limit: .mebibytes(4))
        for number in 0..<400 {
            let key = MadeEntry.key(number)
            store.put(key, MadeEntry.bytes(key, version: 1, count: 30_000))
            if number % 10 == 0 {
                store.flush()
                for used in 0..<min(number, 10) { #expect(store.bytes(MadeEntry.key(used)) != nil, "after \(number)") }
            }
        }
    }

    /// Also an entry that is replaced keeps its uses.
    @Test func usesOutliveTheStore() throws {
        let folder = ScratchFolder()
        let key = MadeEntry.key(1)
        func uses() throws -> Int? {
            try SQLConnection(path: folder.database, isReadOnly: true, vfs: nil).number("SELECT uses FROM entry")
        }
        do {
            let store = try Self.open(folder)
            store.put(key, MadeEntry.bytes(key, version: 1, count: 100))
            store.flush()
            for _ in 0..<3 { #expect(store.bytes(key) != nil) }
        }
        #expect(try uses() == 4)
        do {
            let store = try Self.open(folder)
            store.put(key, MadeEntry.bytes(key, version: 2, count: 100))
        }
        #expect(try uses() == 5)
    }

    /// Also by a store that is only read: uses of further entries would be lost.
    @Test func usesAreStoredWithoutAnEntryToWrite() throws {
        let folder = ScratchFolder()
        do {
            let store = try Self.open(folder, limit: .mebibytes(32))
            for number in 0..<HitLog.capacity { store.put(MadeEntry.key(number), [1]) }
        }
        let store = try Self.open(folder, limit: .mebibytes(32))
        for number in 1..<HitLog.capacity { _ = store.bytes(MadeEntry.key(number)) }
        let isScheduledEarly = store.core.state.withLock { $0.isDrainScheduled }
        #expect(store.statistics.hits == HitLog.capacity - 1 && !isScheduledEarly)
        #expect(store.bytes(MadeEntry.key(0)) != nil)
        let isScheduled = store.core.state.withLock { $0.isDrainScheduled }
        #expect(isScheduled)
        // Stands for the drain, which comes after an hour here.
        store.flush()
        let isFull = store.core.state.withLock { $0.hits.isFull }
        #expect(!isFull && store.statistics.failures == 0)
    }

    @Test func aSecondStoreIsRefused() throws {
        let folder = ScratchFolder()
        var first: TileDiskStore? = try Self.open(folder)
        #expect(throws: TileDiskStoreError.inUse(path: folder.path)) { try Self.open(folder) }
        first?.put(MadeEntry.key(1), MadeEntry.bytes(MadeEntry.key(1), version: 1, count: 100))
        first = nil
        #expect(try Self.open(folder).bytes(MadeEntry.key(1)) != nil)
    }

    /// Generations are read when a store is opened: one that only reads would not see those that another one raises.
    @Test func storesThatReadExcludeOneThatWrites() throws {
        let folder = ScratchFolder()
        try Self.open(folder).close()
        let inUse = TileDiskStoreError.inUse(path: folder.path)
        let readers = try (0..<2).map { _ in try DiskFolder(path: folder.path, isWritable: false) }
        #expect(readers.allSatisfy { $0.isReadOnly })
        #expect(throws: inUse) { try Self.open(folder) }
        for reader in readers { reader.unlock() }
        let writer = try Self.open(folder)
        #expect(throws: inUse) { try DiskFolder(path: folder.path, isWritable: false) }
        writer.close()
        // A copy of a store, which no store has written to.
        try FileManager.default.removeItem(atPath: folder.path + "/lock")
        for _ in 0..<2 { #expect(try DiskFolder(path: folder.path, isWritable: false).isReadOnly) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/lock"))
    }

    @Test func theUseOfALock() {
        #expect(DiskFolder.lockUse(writing: 0, reading: 0) == .exclusive)
        for error in [EACCES, EPERM, EROFS] {
            #expect(DiskFolder.lockUse(writing: error, reading: 0) == .shared)
            #expect(DiskFolder.lockUse(writing: error, reading: ENOENT) == .without)
        }
        // A store of another user may be writing, but not to a read-only file system.
        #expect(DiskFolder.lockUse(writing: EACCES, reading: EACCES) == .refused)
        #expect(DiskFolder.lockUse(writing: EROFS, reading: EACCES) == .without)
        #expect(DiskFolder.lockUse(writing: EISDIR, reading: 0) == .refused)
    }

    @Test func settingsOutOfRangeAreRefused() throws {
        let folder = ScratchFolder()
        func isRefused(_ limit: ByteCount, _ change: (inout TileDiskStoreOptions) -> Void = { _ in }) -> Bool {
            var options = TileDiskStoreOptions.test()
            change(&options)
            do {
                _ = try TileDiskStore(path: folder.path, byteLimit: limit, options: options)
                return false
            } catch {
                guard case .invalidConfiguration = error else { return false }
                return true
            }
        }
        #expect(isRefused(.bytes(4 << 20 - 1)) && !isRefused(.mebibytes(4)))
        #expect(isRefused(.bytes(1 << 45 + 1)) && !isRefused(.bytes(1 << 45)))
        #expect(isRefused(.bytes(-1)) && isRefused(.bytes(.max)))
        #expect(isRefused(Self.limit) { $0.readers = 0 } && isRefused(Self.limit) { $0.readers = 65 })
        #expect(isRefused(Self.limit) { $0.writeBuffer = .bytes(65_535) })
        #expect(!isRefused(Self.limit) { $0.writeBuffer = .kibibytes(64) })
        #expect(isRefused(Self.limit) { $0.writeBuffer = .bytes(1 << 30 + 1) })
        #expect(!isRefused(Self.limit) { $0.writeBuffer = .gibibytes(1) })
        #expect(isRefused(Self.limit) { $0.longestWait = .seconds(-1) })
        #expect(throws: TileDiskStoreError.self) {
            try TileDiskStore(path: folder.path + "/no/such", byteLimit: Self.limit)
        }
        let store = try Self.open(folder)
        #expect(throws: TileDiskStoreError.self) { try store.setByteLimit(.bytes(1)) }
    }

    @Test func largeEntriesAndAFullBuffer() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        let key = MadeEntry.key(1)
        // An eighth of 8 MiB.
        #expect(store.put(key, MadeEntry.bytes(key, version: 1, count: 1 << 20)) == .accepted)
        #expect(store.put(key, MadeEntry.bytes(key, version: 1, count: 1 << 20 + 1)) == .refused)
        var accepted = 1
        for number in 2..<8 where store.put(MadeEntry.key(number), [UInt8](repeating: 1, count: 1 << 20)) == .accepted {
            accepted += 1
        }
        #expect(accepted == 3)
        #expect(store.statistics.dropped == 4 && store.statistics.refused == 1)
        #expect(store.statistics.memorySize > .mebibytes(3))
        store.flush()
        #expect(store.bytes(key) == MadeEntry.bytes(key, version: 1, count: 1 << 20))
        #expect(store.folderBytesAreWithinTheLimit(folder))
    }
}

extension TileDiskStore {
    func folderBytesAreWithinTheLimit(_ folder: ScratchFolder) -> Bool { folder.byteCount <= byteLimit.bytes }
}
