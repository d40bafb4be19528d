import CacheBenchKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes a finished report: to standard output, or to a file that is either whole or as it was before.
struct ReportWriter {
    private let path: String?

    /// Looks whether the file could be written, so that nobody waits for a long run only to lose it.
    init(_ arguments: OutputArguments) throws(Failure) { try self.init(path: arguments.output) }

    /// The same for commands that draw pages.
    init(_ arguments: PageArguments) throws(Failure) { try self.init(path: arguments.output) }

    /// The same for a command that has no forms to choose from.
    init(path: String?) throws(Failure) {
        // Whoever reads may stop reading: then write says so, and the program ends quietly.
        signal(SIGPIPE, SIG_IGN)
        guard let path else {
            self.path = nil
            return
        }
        // Through symbolic links, so that the file they lead to is replaced and not the link.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        self.path = resolved.map { String(cString: $0) } ?? path
        guard !path.isEmpty else { throw Failure("--output takes the name of a file") }
        let target = resolved == nil ? Self.folder(of: path) : self.path!
        if access(target, W_OK) != 0 { throw Self.failure(path) }
        if Self.kind(of: self.path!) == S_IFDIR { throw Failure("--output \(path): is a directory") }
    }

    /// Colour is for terminals whose owner has not declined it.
    var style: TextStyle {
        let declined = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? false
        return path == nil && isatty(1) == 1 && !declined && !isDumb ? .ansi : .plain
    }

    /// Writes a report.
    func write(_ text: String) throws(Failure) {
        var rest: String? = text
        try write(pieces: { rest.take() })
    }

    /// Writes piece by piece what is too long to be kept, until there is no next one.
    func write(pieces next: () -> String?) throws(Failure) {
        guard let path else {
            if Self.write(next, to: 1) { return }
            if errno == EPIPE { return }
            throw Failure("standard output: \(Self.reason)")
        }
        // A device or a pipe is written to as it is; only files are replaced.
        if let kind = Self.kind(of: path), kind != S_IFREG { return try writeThrough(next, path) }
        let temporary = "\(path).\(getpid()).partial"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
        let isWritten = Self.write(next, to: descriptor)
        let why = errno
        guard close(descriptor) == 0, isWritten, rename(temporary, path) == 0 else {
            if !isWritten { errno = why }
            let failure = Self.failure(path)
            unlink(temporary)
            throw failure
        }
    }

    private func writeThrough(_ next: () -> String?, _ path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        let isWritten = Self.write(next, to: descriptor)
        let failure = Self.failure(path)
        close(descriptor)
        if !isWritten { throw failure }
    }

    private static func write(_ next: () -> String?, to descriptor: Int32) -> Bool {
        while let text = next() {
            guard write(text, to: descriptor) else { return false }
        }
        return true
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { unistdWrite(descriptor, $0.baseAddress!, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func failure(_ path: String) -> Failure { Failure("--output \(path): \(reason)") }
}

/// `write`, under a name that no method hides.
private func unistdWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
