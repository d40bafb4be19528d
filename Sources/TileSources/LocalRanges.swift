import Synchronization
import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Byte ranges of a file on a disk, pinned by its size and modification time.
final class LocalRanges: Sendable {
    let size: Int
    /// Path, size and modification time of the open file, as ``DataSetName`` has them.
    let dataSet: [String]
    private let path: String
    private let file: Int32
    private let time: String
    private let changed = Atomic(false)
    private let counter: SourceCounter

    init(_ path: String, expecting expected: String, counter: SourceCounter) throws(TileSourceError) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let reason = errno == ENOENT || errno == ENOTDIR ? "there is no such file" : Files.lastError
            throw TileSourceError(path, "\(reason); \(expected) was expected")
        }
        var status = stat()
        let isKnown = fstat(file, &status) == 0
        guard isKnown, status.st_mode & S_IFMT == S_IFREG else {
            let reason = isKnown ? "this is no file" : Files.lastError
            close(file)
            throw TileSourceError(path, "\(expected) was expected, and \(reason)")
        }
        dataSet = DataSetName.file(path, status)
        (self.path, self.file, self.counter) = (path, file, counter)
        (size, time) = (Int(status.st_size), DataSetName.time(status))
    }

    deinit { close(file) }

    /// Whether it has been found to be changed.
    var isChanged: Bool { changed.load(ordering: .relaxed) }

    /// Reads a range within ``size``, of one byte or more.
    func read(_ range: Range<Int>, for client: RangeClient) -> RangeEnd {
        let name = "\(path): bytes \(range.lowerBound)-\(range.upperBound - 1)"
        return client.held(range, name, counter) { read(range, name) }
    }

    private func read(_ range: Range<Int>, _ name: String) -> RangeEnd {
        func failed(_ failure: TileFailure, _ cause: TileLoadFailureCause, _ message: String) -> RangeEnd {
            let cause = TileLoadFailure(cause, message)
            counter.count(cause, of: name)
            return .failed(failure, cause)
        }
        // Of errno, before another call changes it; 0 if the file ends early.
        var error: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let memory = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
            errno = 0
            if !Files.read(file, at: range.lowerBound, into: memory) { error = errno }
            count = error == nil ? range.count : 0
        }
        var status = stat()
        let isSame = fstat(file, &status) == 0 && Int(status.st_size) == size && DataSetName.time(status) == time
        if isChanged || !isSame {
            changed.store(true, ordering: .relaxed)
            return failed(.permanent, .changed, RangeRule.changed)
        }
        guard let error else { return .bytes(bytes) }
        let reason = error == 0 ? "it ends before its size" : String(cString: strerror(error))
        return failed(.transient(retryAfter: .zero), .unreadable, reason)
    }
}
