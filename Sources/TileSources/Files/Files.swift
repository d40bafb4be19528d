#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Result of reading a file.
enum FileContents {
    case bytes(ScratchBytes)
    /// The file does not exist.
    case missing
    case failed(TileLoadFailure)

    /// Reads a file that must exist.
    func required(_ path: String, _ expected: String) throws(TileSourceError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes.array
        case .missing: throw TileSourceError(path, "there is no such file; \(expected) was expected")
        case .failed(let failure): throw TileSourceError(path, failure.message)
        }
    }
}

/// What tells a file from others, whatever their paths.
struct FileID: Equatable, Sendable {
    var device: Int
    var number: UInt
}

/// File operations of sources.
enum Files {
    /// Maximum size of an image of a tile; larger files are not read.
    static let largestTile = 64 << 20

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// - Parameter scratch: Memory for its bytes. Default: of their own.
    static func read(
        _ path: String,
        _ scratch: ScratchMemory = ScratchMemory(),
        limit: Int = largestTile
    ) -> FileContents {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return missingOrFailed() }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return missingOrFailed() }
        guard status.st_mode & S_IFMT == S_IFREG else { return .failed(TileLoadFailure(.unreadable, "it is no file")) }
        guard status.st_size <= limit else {
            return .failed(TileLoadFailure(.tooLarge, "\(status.st_size) bytes, and at most \(limit) were expected"))
        }
        guard let bytes = scratch.lend(Int(status.st_size)) else { return .failed(.noMemory(Int(status.st_size))) }
        var count = 0
        while count < bytes.memory.count, let base = bytes.memory.baseAddress {
            let got = read(file, base + count, bytes.memory.count - count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { return missingOrFailed() }
            guard got > 0 else { break }
            count += got
        }
        bytes.shorten(to: count)
        return .bytes(bytes)
    }

    /// The first bytes of a file; none if it cannot be read or has fewer.
    static func beginning(_ path: String, _ count: Int) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { read(file, at: 0, into: $0) } ? bytes : []
    }

    /// Fills memory from an offset of an open file; `false` if there are too few bytes.
    static func read(_ file: Int32, at offset: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        var got = 0
        while got < memory.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[got...])
            let count = pread(file, rest.baseAddress, rest.count, off_t(offset + got))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            got += count
        }
        return true
    }

    /// Lists at most `limit` names in a folder; `nil` if it cannot be read.
    static func names(in folder: String, limit: Int = 100_000) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The path of something that exists, from the root: the program may change its working directory.
    static func fromRoot(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        let full = "\(String(cString: folder))/\(path)"
        return exists(full) ? full : path
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Size of a file in bytes; 0 if it does not exist.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// What a file keeps when its content changes. `nil` if it does not exist.
    static func id(_ path: String) -> FileID? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileID(device: Int(truncatingIfNeeded: status.st_dev), number: UInt(truncatingIfNeeded: status.st_ino))
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is something at a path that is no regular file. Opening a pipe would wait for its writer.
    static func isOther(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Text of `errno`.
    static var lastError: String { String(cString: strerror(errno)) }

    private static func missingOrFailed() -> FileContents {
        errno == ENOENT || errno == ENOTDIR ? .missing : .failed(TileLoadFailure(.unreadable, lastError))
    }

    private static func read(_ file: Int32, _ to: UnsafeMutableRawPointer, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.read(file, to, count)
        #elseif canImport(Musl)
            Musl.read(file, to, count)
        #else
            Darwin.read(file, to, count)
        #endif
    }
}
