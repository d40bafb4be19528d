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
    private let scratch: ScratchMemory

    /// - Parameter scratch: Memory for what is read.
    init(
        _ path: String,
        expecting expected: String,
        counter: SourceCounter,
        scratch: ScratchMemory
    ) throws(TileSourceError) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            let text = isMissing ? "there is no such file" : Files.lastError
            throw TileSourceError(path, "\(text); \(expected) was expected", isMissing ? .missing : nil)
        }
        var status = stat()
        let isKnown = fstat(file, &status) == 0
        guard isKnown, status.st_mode & S_IFMT == S_IFREG else {
            let reason = isKnown ? "this is no file" : Files.lastError
            close(file)
            throw TileSourceError(path, "\(expected) was expected, and \(reason)")
        }
        dataSet = DataSetName.file(path, status)
        (self.path, self.file, self.counter, self.scratch) = (path, file, counter, scratch)
        (size, time) = (Int(status.st_size), DataSetName.time(status))
    }

    deinit { close(file) }

    /// Whether it has been found to be changed.
    var isChanged: Bool { changed.load(ordering: .relaxed) }

    /// Reads a range within ``size``, of one byte or more.
    func read(_ range: Range<Int>, for client: RangeClient) -> RangeEnd {
        let name = "\(path): bytes \(range.lowerBound)-\(range.upperBound - 1)"
        return client.held(range, name, counter) {
            let end = read(range, name)
            // The source counts its buffers.
            _ = client.hold(0)
            return end
        }
    }

    private func read(_ range: Range<Int>, _ name: String) -> RangeEnd {
        func failed(_ failure: TileFailure, _ cause: TileLoadFailureCause, _ message: String) -> RangeEnd {
            let cause = TileLoadFailure(cause, message)
            counter.count(cause, of: name)
            return .failed(failure, cause)
        }
        guard let bytes = scratch.lend(range.count) else {
            let failure = TileLoadFailure.noMemory(range.count)
            return failed(failure.failure, failure.cause, failure.message)
        }
        errno = 0
        let isRead = Files.read(file, at: range.lowerBound, into: UnsafeMutableRawBufferPointer(bytes.memory))
        // Before another call changes it; 0 if the file ends early.
        let error = errno
        var status = stat()
        let isSame = fstat(file, &status) == 0 && Int(status.st_size) == size && DataSetName.time(status) == time
        if isChanged || !isSame {
            changed.store(true, ordering: .relaxed)
            return failed(.permanent, .changed, RangeRule.changed)
        }
        guard !isRead else { return .bytes(.lent(bytes)) }
        let reason = error == 0 ? "it ends before its size" : String(cString: strerror(error))
        return failed(.transient(retryAfter: .zero), .unreadable, reason)
    }
}
