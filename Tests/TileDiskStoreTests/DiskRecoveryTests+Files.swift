import Foundation
import Testing
import TileCache

@testable import TileDiskStore

/// Files that were deleted, replaced, or made by others.
extension DiskRecoveryTests {
    /// The folder is found once. Look-ups open their connections later.
    @Test func aLinkToTheFolderMayBeReplaced() throws {
        let (folder, link) = (ScratchFolder(), ScratchFolder())
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: folder.path)
        let store = try Self.open(link)
        try FileManager.default.removeItem(atPath: link.path)
        Self.fill(store, 0..<8)
        #expect(store.bytes(MadeEntry.key(1)) != nil)
        #expect(store.statistics.diskSize == .bytes(folder.byteCount) && folder.byteCount > 8 * 60_000)
    }

    private static func deleteFiles(_ folder: ScratchFolder) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: folder.path + "/" + name)
        }
    }

    /// By the user, or a program that empties caches: the store continues with empty files.
    @Test(arguments: [false, true])
    func deletedFilesAreReplaced(withFolder: Bool) throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        Self.fill(store, 0..<8)
        #expect(store.raiseGeneration(of: MadeEntry.namespaces[1], to: 1))
        try Self.deleteFiles(folder)
        if withFolder { try FileManager.default.removeItem(atPath: folder.path) }
        // The first write finds it, and is lost.
        Self.fill(store, 8..<16)
        #expect(store.statistics.resets == 1 && store.statistics.failures == 1 && !store.isReadOnly)
        Self.fill(store, 16..<24)
        #expect(store.bytes(MadeEntry.key(20)) != nil && store.cause(MadeEntry.key(1)) == .absent)
        #expect(throws: TileDiskStoreError.inUse(path: folder.path)) { try Self.open(folder) }
        store.close()
        let again = try Self.open(folder)
        #expect(again.bytes(MadeEntry.key(20)) != nil && again.generation(of: MadeEntry.namespaces[1]) == 1)
    }

    /// The folder cannot be made again without the one above it: the cause is named, and is no other process.
    @Test func aMissingParentIsNamed() throws {
        let parent = ScratchFolder()
        try FileManager.default.createDirectory(atPath: parent.path, withIntermediateDirectories: true)
        let path = parent.path + "/store"
        let store = try TileDiskStore(path: path, byteLimit: .mebibytes(4), options: .test())
        Self.fill(store, 0..<8)
        try FileManager.default.removeItem(atPath: parent.path)
        let expected = TileDiskStoreError.inaccessible(path: path, reason: "No such file or directory")
        for numbers in [8..<16, 16..<24] {
            Self.fill(store, numbers)
            #expect(store.lastFailure == "\(expected)" && store.isReadOnly && store.statistics.resets == 0)
        }
        try FileManager.default.createDirectory(atPath: parent.path, withIntermediateDirectories: true)
        store.flush()
        Self.fill(store, 24..<32)
        #expect(!store.isReadOnly && store.statistics.resets == 1 && store.bytes(MadeEntry.key(31)) != nil)
    }

    /// The lock was deleted too, and another store has the folder.
    @Test func filesOfAnotherStoreAreKept() throws {
        let folder = ScratchFolder()
        let first = try Self.open(folder)
        Self.fill(first, 0..<8)
        try Self.deleteFiles(folder)
        let second = try Self.open(folder)
        Self.fill(second, 8..<16)
        Self.fill(first, 16..<24)
        #expect(first.isReadOnly && first.statistics.resets == 0)
        #expect(first.put(MadeEntry.key(24), [1]) == .refused)
        Self.fill(second, 24..<32)
        #expect(second.statistics.failures == 0 && second.statistics.entries == 16)
        for number in [8, 31] { #expect(second.bytes(MadeEntry.key(number)) != nil) }
        second.close()
        // As soon as it may be written: the folder is the first one's again.
        first.flush()
        Self.fill(first, 16..<24)
        #expect(!first.isReadOnly && first.bytes(MadeEntry.key(16)) != nil && folder.byteCount > 0)
    }

    private static func deleteLock(_ folder: ScratchFolder) throws {
        try FileManager.default.removeItem(atPath: folder.path + "/lock")
    }

    /// Of two stores with one folder, the one without the lock ends with its next write.
    @Test func aDeletedLockLeavesOneWriter() throws {
        let folder = ScratchFolder()
        let first = try Self.open(folder)
        Self.fill(first, 0..<8)
        try Self.deleteLock(folder)
        let second = try Self.open(folder)
        Self.fill(second, 8..<16)
        #expect(second.statistics.entries == 16)
        Self.fill(first, 16..<24)
        #expect(first.isReadOnly && first.statistics.resets == 0 && first.statistics.failures > 0)
        #expect(first.lastFailure?.contains("in use by another process") == true)
        #expect(first.put(MadeEntry.key(24), [1]) == .refused && first.cause(MadeEntry.key(1)) == .absent)
        #expect(!first.raiseGeneration(of: MadeEntry.namespaces[1], to: 7))
        #expect(try Self.sql(folder, "SELECT count(*) FROM entry") == 16)
        Self.fill(second, 24..<32)
        #expect(second.statistics.failures == 0 && second.statistics.entries == 24)
        second.close()
        // The folder is the first one's again, with what the second one has written.
        first.flush()
        Self.fill(first, 16..<24)
        #expect(!first.isReadOnly && first.statistics.resets == 0)
        for number in [16, 31] { #expect(first.bytes(MadeEntry.key(number)) != nil) }
        #expect(try Self.sql(folder, "SELECT count(*) FROM entry") == 32)
    }

    /// No other store has the folder: the lock is taken anew, and nothing is lost.
    @Test func aDeletedLockIsTakenAnew() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        Self.fill(store, 0..<8)
        try Self.deleteLock(folder)
        Self.fill(store, 8..<16)
        #expect(throws: TileDiskStoreError.inUse(path: folder.path)) { try Self.open(folder) }
        #expect(store.statistics.entries == 16 && store.statistics.failures == 0 && store.statistics.resets == 0)
    }

    /// Put in place of a running store's file: kept to the last byte, and the store goes on once it is gone.
    @Test(arguments: [false, true])
    func aDatabaseInPlaceOfARunningStoresIsKept(isLaterVersion: Bool) throws {
        let (folder, other) = (ScratchFolder(), ScratchFolder())
        let store = try Self.open(folder)
        Self.fill(store, 0..<8)
        if isLaterVersion {
            try Self.fill(Self.open(other), 0..<1)
            _ = try Self.sql(other, "PRAGMA user_version = 99")
            _ = try Self.sql(other, "UPDATE store SET value = 99 WHERE name = 'version'")
        } else {
            try FileManager.default.createDirectory(atPath: other.path, withIntermediateDirectories: true)
            _ = try Self.sql(other, "CREATE TABLE entry(name TEXT)")
        }
        let before = try Data(contentsOf: URL(filePath: other.database))
        try FileManager.default.removeItem(atPath: folder.database)
        try FileManager.default.moveItem(atPath: other.database, toPath: folder.database)
        for numbers in [8..<16, 16..<24] {
            Self.fill(store, numbers)
            #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
        }
        #expect(store.isReadOnly && store.statistics.resets == 0 && store.bytes(MadeEntry.key(1)) == nil)
        let expected = isLaterVersion ? "later version" : "another program"
        #expect(store.lastFailure?.contains(expected) == true, "\(store.statistics)")
        try FileManager.default.removeItem(atPath: folder.database)
        store.flush()
        Self.fill(store, 24..<32)
        #expect(!store.isReadOnly && store.statistics.resets == 1 && store.bytes(MadeEntry.key(31)) != nil)
    }

    /// A backup, or one that was filled elsewhere.
    @Test func aStoresDatabaseInPlaceOfARunningOnesIsUsed() throws {
        let (folder, other) = (ScratchFolder(), ScratchFolder())
        let store = try Self.open(folder)
        Self.fill(store, 0..<8)
        try Self.fill(Self.open(other), 100..<108)
        try FileManager.default.removeItem(atPath: folder.database)
        try FileManager.default.moveItem(atPath: other.database, toPath: folder.database)
        // The first write finds it, and is lost.
        Self.fill(store, 8..<16)
        #expect(store.statistics.failures == 1 && store.statistics.resets == 0 && !store.isReadOnly)
        store.completeFilter()
        #expect(store.bytes(MadeEntry.key(103)) != nil && store.cause(MadeEntry.key(1)) == .absent)
        Self.fill(store, 16..<24)
        #expect(store.bytes(MadeEntry.key(20)) != nil && store.statistics.entries == 16)
        #expect(try Self.sql(folder, "SELECT count(*) FROM entry") == 16)
    }

    @Test func aDatabaseOfAnotherProgramIsRefusedAndKept() throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        _ = try Self.sql(folder, "CREATE TABLE entry(name TEXT)")
        let before = try Data(contentsOf: URL(filePath: folder.database))
        #expect(before.count > 0)
        let error = #expect(throws: TileDiskStoreError.foreignDatabase(path: folder.database)) {
            try Self.open(folder)
        }
        #expect(error?.description.hasPrefix(folder.database) == true)
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
    }

    /// The number that identifies the program is damaged; the tables are a store's.
    @Test func aStoreWithADamagedHeaderIsReplaced() throws {
        let folder = ScratchFolder()
        try Self.fill(Self.open(folder), 0..<8)
        _ = try Self.sql(folder, "PRAGMA application_id = 7")
        let store = try Self.open(folder)
        #expect(store.statistics.resets == 1 && store.statistics.entries == 0)
    }

    /// SQLite opens a file read-only only if its header states a later format.
    @Test func aStoreWithADamagedFormatIsReplaced() throws {
        let folder = ScratchFolder()
        try Self.fill(Self.open(folder), 0..<8)
        var file = try Data(contentsOf: URL(filePath: folder.database))
        file[18] ^= 2
        try file.write(to: URL(filePath: folder.database))
        let store = try Self.open(folder)
        #expect(!store.isReadOnly && store.statistics.resets == 1)
        Self.fill(store, 0..<8)
        #expect(store.bytes(MadeEntry.key(1)) != nil)
    }
}
