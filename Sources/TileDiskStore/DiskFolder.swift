import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Files of a store, and the lock that excludes other stores from its folder.
final class DiskFolder: Sendable {
    /// As it was given, for messages.
    let path: String
    /// Without links, from the root: the program may change its working directory, and links may be replaced.
    private let root: String
    /// Whether nothing can be written, so that there is no lock.
    let isReadOnly: Bool
    private let lock: Int32

    /// Opens a folder, or creates it. The folder above it must exist.
    init(path: String) throws(TileDiskStoreError) {
        self.path = path
        if mkdir(path, 0o777) != 0, errno != EEXIST, errno != EROFS {
            throw .inaccessible(path: path, reason: String(cString: strerror(errno)))
        }
        let resolved = realpath(path, nil)
        root = resolved.map { String(cString: $0) } ?? path
        free(resolved)
        lock = open(root + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        if lock < 0 {
            let reason = errno
            guard reason == EROFS || reason == EACCES || reason == EPERM, access(root + "/tiles.sqlite", R_OK) == 0
            else {
                throw .inaccessible(path: path, reason: String(cString: strerror(reason)))
            }
            isReadOnly = true
            return
        }
        isReadOnly = false
        // Released when the process ends, however it ends.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            // All properties are set: deinit closes the lock.
            let reason = errno
            if reason == EWOULDBLOCK { throw .inUse(path: path) }
            throw .inaccessible(path: path, reason: String(cString: strerror(reason)))
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    /// Whether the folder is still this store's. Its lock is taken anew if the file was deleted.
    func keepLock() -> Bool {
        var (held, present) = (stat(), stat())
        if fstat(lock, &held) == 0, stat(root + "/lock", &present) == 0,
            (held.st_dev, held.st_ino) == (present.st_dev, present.st_ino)
        {
            return true
        }
        let file = open(root + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard file >= 0 else { return false }
        defer { close(file) }
        // The lock is of the open file, which both descriptors then have.
        guard flock(file, LOCK_EX | LOCK_NB) == 0, dup2(file, lock) >= 0 else { return false }
        return fcntl(lock, F_SETFD, FD_CLOEXEC) >= 0
    }

    /// Releases the lock. The files are not used after that.
    func unlock() { if lock >= 0 { flock(lock, LOCK_UN) } }

    var database: String { root + "/tiles.sqlite" }

    /// Deletes the database and its journal. No connection may be open.
    func removeFiles() {
        // The journal last: without its database it is of no use, and would be rolled back into a new one.
        unlink(database)
        unlink(database + "-journal")
    }

    /// Whether the header states a format that SQLite opens for reading only. No store has one.
    var statesLaterFormat: Bool {
        let file = open(database, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var version: UInt8 = 0
        return pread(file, &version, 1, 18) == 1 && version > 2
    }

    /// Free bytes of the file system; 0 if they are not known.
    var freeBytes: Int {
        var status = statvfs()
        guard statvfs(root, &status) == 0 else { return 0 }
        let blocks = Int(clamping: status.f_bavail)
        let (bytes, isHuge) = blocks.multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
        return isHuge ? .max : bytes
    }

    /// Bytes of all files.
    var byteCount: Int {
        ["tiles.sqlite", "tiles.sqlite-journal"].reduce(0) { sum, name in
            var status = stat()
            return stat(root + "/" + name, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }
}
