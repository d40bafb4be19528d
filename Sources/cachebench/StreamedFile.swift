#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file that is written in pieces and takes its name when it is whole; `-` is standard output.
struct StreamedFile {
    private let flag: String
    private let path: String
    private let temporary: String
    private let descriptor: Int32

    /// Opens a file beside its final place.
    ///
    /// - Parameters:
    ///   - path: the file, or `-`.
    ///   - flag: which flag named it, for messages.
    init(_ path: String, flag: String) throws(Failure) {
        self.path = path
        self.flag = flag
        temporary = "\(path).\(getpid()).partial"
        descriptor = path == "-" ? 1 : open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor < 0 { throw failure }
    }

    /// Writes the next bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var rest = bytes
        while rest.count > 0 {
            let count = writeBytes(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// Gives the file its name.
    func finish() throws(Failure) {
        guard descriptor != 1 else { return }
        guard close(descriptor) == 0, rename(temporary, path) == 0 else {
            let failure = failure
            unlink(temporary)
            throw failure
        }
    }

    /// Takes back what has been written.
    func discard() {
        guard descriptor != 1 else { return }
        close(descriptor)
        unlink(temporary)
    }

    private var failure: Failure { Failure("\(flag) \(path): \(String(cString: strerror(errno)))") }
}

/// `write`, under a name that no method hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
