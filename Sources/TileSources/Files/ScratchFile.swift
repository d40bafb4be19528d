#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file without a name: written once by one thread, then read by any.
///
/// Unchecked: the descriptor never changes, and `size` only while the one thread writes.
final class ScratchFile: @unchecked Sendable {
    private let file: Int32
    private(set) var size = 0
    private let limit: Int

    init(folder: String?, limit: Int) throws(TileSourceError) {
        let place = folder ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(place)/tilecache-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw TileSourceError(place, "a folder to write to was expected: \(Files.lastError)") }
        unlink(template)
        // A program that is started meanwhile would keep the space on the disk for as long as it runs.
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        self.file = file
        self.limit = limit
    }

    deinit { close(file) }

    /// Appends bytes; returns their offset, or why they could not be written.
    func append(_ bytes: UnsafeRawBufferPointer) -> Result<Int, TileLoadFailure> {
        guard bytes.count <= limit - size else {
            return .failure(TileLoadFailure(.tooLarge, "its tiles need more than \(limit) bytes of disk"))
        }
        let start = size
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(file, rest.baseAddress, rest.count, off_t(start + written))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return .failure(TileLoadFailure(.unreadable, "its tiles cannot be written: \(Files.lastError)"))
            }
            written += count
        }
        size += bytes.count
        return .success(start)
    }

    /// Fills memory from an offset; `false` if there are too few bytes.
    func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        Files.read(file, at: offset, into: memory)
    }
}
