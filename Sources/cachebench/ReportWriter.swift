import CacheBenchKit
import Foundation

/// Writes a finished report to standard output or to a file. The file is replaced as a whole or not at all.
struct ReportWriter {
    private let path: String?
    private let flag: String

    /// Checks whether the file can be written, before a long run; `nil` and `-` are standard output.
    ///
    /// - Parameter others: Files that the command reads, or writes for other flags, and folders of such. None of them is
    ///   replaced, and nothing is added to a folder.
    init(path: String?, flag: String = "--output", sparing others: [String] = []) throws(Failure) {
        self.flag = flag
        // The reader may stop reading: write then fails, and the program ends quietly.
        signal(SIGPIPE, SIG_IGN)
        // Beyond `ulimit -f` write fails too, and the unfinished file is removed.
        signal(SIGXFSZ, SIG_IGN)
        guard let path, path != "-" else {
            self.path = nil
            return
        }
        guard !path.isEmpty else { throw Failure("\(flag) takes the name of a file") }
        let kind = Self.kind(of: path)
        let isReplaced = kind == nil || kind == S_IFREG
        // A pipe may have no path: that of its link is used.
        guard let target = isReplaced ? Self.target(of: path) : path else {
            throw Failure("\(flag) \(path): a file is expected, not a circle of symbolic links")
        }
        self.path = target
        if kind == S_IFDIR { throw Failure("\(flag) \(path): is a directory") }
        if isReplaced, let other = others.first(where: { Self.isSame($0, target) || Self.isFolder($0, of: target) }) {
            throw Failure("\(flag) \(path): another file is expected, the command reads or writes \(other) too")
        }
        if kind != nil, access(target, W_OK) != 0 { throw failure(path) }
        // A file is made beside it and renamed.
        let folder = Self.folder(of: target)
        if isReplaced, access(folder, W_OK) != 0 {
            throw Failure("\(flag) \(path): \(Self.reason); a folder that can be written is expected, not \(folder)")
        }
    }

    /// The end of symbolic links, so that their target is replaced and not the link. There may be no file yet. `nil` if
    /// there are more links than the system follows.
    private static func target(of path: String) -> String? {
        var target = path
        for _ in 0...40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else { return target }
            target = next.hasPrefix("/") ? next : folder(of: target) + "/" + next
        }
        return nil
    }

    /// Colours for terminals, unless the user has turned them off.
    var style: TextStyle {
        let declined = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? false
        return path == nil && isatty(1) == 1 && !declined && !isDumb ? .ansi : .plain
    }

    func write(_ report: some Encodable, as format: OutputArguments.Format, table: @autoclosure () -> String) throws {
        try write(format == .json ? JSONText.of(report) : table())
    }

    func write(
        _ report: some Encodable,
        as format: PageArguments.Format,
        table: @autoclosure () -> String,
        page: () throws -> String
    ) throws {
        switch format {
        case .table: try write(table())
        case .json: try write(JSONText.of(report))
        case .html: try write(page())
        }
    }

    func write(_ text: String) throws {
        var rest: String? = text
        try write(pieces: { rest.take() })
    }

    /// Writes a long text in pieces, until there is no next one.
    func write(pieces next: () -> String?) throws {
        try write(blocks: { put in
            while var text = next() { try text.withUTF8 { try put(UnsafeRawBufferPointer($0)) } }
        })
    }

    /// Writes the blocks that a body produces; if it throws, the file is unchanged.
    func write(blocks body: (_ put: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        guard let path else {
            do { try body { try put($0, to: 1) } } catch is ReaderHasGone {}
            return
        }
        // Devices and pipes are written directly; only files are replaced.
        let mode = Self.mode(of: path)
        let isReplaced = (Self.kind(of: path) ?? S_IFREG) == S_IFREG
        let place = isReplaced ? "\(path).\(getpid()).partial" : path
        let descriptor = open(place, O_WRONLY | O_CLOEXEC | (isReplaced ? O_CREAT | O_EXCL : 0), 0o666)
        guard descriptor >= 0 else { throw failure(path) }
        do {
            // The new file has the permissions of the one that it replaces.
            if isReplaced, let mode, fchmod(descriptor, mode & 0o777) != 0 { throw failure(path) }
            try body { try put($0, to: descriptor) }
        } catch {
            close(descriptor)
            if isReplaced { unlink(place) }
            throw error
        }
        guard close(descriptor) == 0, !isReplaced || rename(place, path) == 0 else {
            let failure = failure(path)
            if isReplaced { unlink(place) }
            throw failure
        }
    }

    /// The reader of standard output has closed it: not a failure.
    private struct ReaderHasGone: Error {}

    private func put(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let count = unistdWrite(descriptor, start, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                if let path { throw failure(path) }
                if errno == EPIPE { throw ReaderHasGone() }
                throw Failure("standard output: \(Self.reason)")
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }

    /// Kind of a file at the end of its links, such as `S_IFIFO`; `nil` if there is none.
    static func kind(of path: String) -> mode_t? { mode(of: path).map { $0 & S_IFMT } }

    /// Whether two paths lead to the same file, which may not be there yet.
    private static func isSame(_ path: String, _ target: String) -> Bool {
        var (one, other) = (stat(), stat())
        if stat(path, &one) == 0, stat(target, &other) == 0 {
            return one.st_dev == other.st_dev && one.st_ino == other.st_ino
        }
        // A folder may be named through a link.
        func place(_ path: String) -> String {
            URL(fileURLWithPath: folder(of: path)).resolvingSymlinksInPath().path + "/"
                + URL(fileURLWithPath: path).lastPathComponent
        }
        return place(Self.target(of: path) ?? path) == place(target)
    }

    /// Whether a file is in a folder, or in one below it.
    private static func isFolder(_ path: String, of file: String) -> Bool {
        guard kind(of: path) == S_IFDIR else { return false }
        let parts = [path, folder(of: file)].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().pathComponents }
        return parts[1].starts(with: parts[0])
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private func failure(_ path: String) -> Failure { Failure("\(flag) \(path): \(Self.reason)") }
}

/// `write`, under a name that no method hides.
private func unistdWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
