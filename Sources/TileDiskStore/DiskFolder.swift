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
    /// Absolute and without links: the program may change its working directory, and links may be replaced.
    private let resolvedPath: String
    /// Whether nothing can be written.
    let isReadOnly: Bool
    /// Descriptor of the file that is locked; negative if there is none.
    private let lock: Lock<Int32>

    /// What the lock of a folder is taken for.
    enum LockUse: Equatable {
        /// One store, which writes.
        case exclusive
        /// Stores that read. None that writes may have the folder: they would not see its invalidations.
        case shared
        /// There is no file to lock, and thus no store that writes; or the file system is read-only.
        case without
        /// The file cannot be opened at all. A store of another user may be writing.
        case refused
    }

    /// Decides on the lock from the errors of opening its file for writing, and then for reading; 0 for none.
    static func lockUse(writing: Int32, reading: Int32) -> LockUse {
        if writing == 0 { return .exclusive }
        guard writing == EROFS || writing == EACCES || writing == EPERM else { return .refused }
        if reading == 0 { return .shared }
        return reading == ENOENT || writing == EROFS ? .without : .refused
    }

    /// Opens a folder, or creates it. The folder above it must exist.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - isWritable: `false` only in tests, which may run as root: as if its files were not to be written.
    init(path: String, isWritable: Bool = true) throws(TileDiskStoreError) {
        self.path = path
        if mkdir(path, 0o777) != 0, errno != EEXIST, errno != EROFS {
            throw .inaccessible(path: path, reason: String(cString: strerror(errno)))
        }
        let resolved = realpath(path, nil)
        resolvedPath = resolved.map { String(cString: $0) } ?? path
        free(resolved)
        var file = isWritable ? open(resolvedPath + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666) : -1
        let writing = file >= 0 ? 0 : isWritable ? errno : EACCES
        var reading: Int32 = 0
        if file < 0 {
            file = open(resolvedPath + "/lock", O_RDONLY | O_CLOEXEC)
            if file < 0 { reading = errno }
        }
        // All properties are set: deinit closes the lock.
        lock = Lock(file)
        isReadOnly = writing != 0
        let use = Self.lockUse(writing: writing, reading: reading)
        guard use != .refused, !isReadOnly || access(database, R_OK) == 0 else {
            throw .inaccessible(path: path, reason: String(cString: strerror(writing)))
        }
        // Released when the process ends, however it ends.
        guard use != .without, flock(file, (use == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 else { return }
        let reason = errno
        // A read-only file system may have no locks.
        if reason == EWOULDBLOCK || writing != EROFS { throw Self.failure(reason, path) }
    }

    /// Why the folder's lock is not taken.
    private static func failure(_ code: Int32, _ path: String) -> TileDiskStoreError {
        code == EWOULDBLOCK ? .inUse(path: path) : .inaccessible(path: path, reason: String(cString: strerror(code)))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private var descriptor: Int32 { lock.withLock { $0 } }

    /// Takes the lock anew if its file was deleted. Throws if the folder is not this store's any more.
    func keepLock() throws(TileDiskStoreError) {
        var (held, present) = (stat(), stat())
        if fstat(descriptor, &held) == 0, stat(resolvedPath + "/lock", &present) == 0,
            (held.st_dev, held.st_ino) == (present.st_dev, present.st_ino)
        {
            return
        }
        // The folder may have been deleted, too.
        _ = mkdir(resolvedPath, 0o777)
        let file = open(resolvedPath + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.failure(errno, path) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(file)
            throw Self.failure(reason, path)
        }
        let old = lock.withLock { descriptor in
            defer { descriptor = file }
            return descriptor
        }
        close(old)
    }

    /// Releases the lock. The files are not used after that.
    func unlock() { if descriptor >= 0 { flock(descriptor, LOCK_UN) } }

    var database: String { resolvedPath + "/tiles.sqlite" }

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

    /// Free bytes of the file system; the largest number if they are not known.
    var freeBytes: Int {
        var status = statvfs()
        guard statvfs(resolvedPath, &status) == 0, status.f_blocks > 0 else { return .max }
        let blocks = Int(clamping: status.f_bavail)
        let (bytes, isHuge) = blocks.multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
        return isHuge ? .max : bytes
    }

    var hasDatabase: Bool { access(database, F_OK) == 0 }

    /// Bytes of all files.
    var byteCount: Int { Self.size(database) + Self.size(database + "-journal") }

    /// Whether a process has left a transaction that is to be rolled back.
    var hasJournal: Bool { Self.size(database + "-journal") > 0 }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
