#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reads a file line by line through one buffer of fixed size.
///
/// Removes line feeds, carriage returns before them, and a byte order mark at the start.
package final class LineReader {
    /// Maximum length of a line, in bytes; lines of traces are far shorter.
    static let longestLine = 65_536
    private static let capacity = 4 * longestLine

    /// Name for messages: the path, or `standard input`.
    package let name: String
    /// Number of the line that was read last, from 1.
    package private(set) var lineNumber = 0
    /// Whether there were no bytes.
    var isEmpty: Bool { lineNumber == 0 && hasEnded && start == end }

    private let descriptor: Int32?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var start = 0
    private var end = 0
    private var hasEnded = false
    private var bytesRead = 0
    /// Remaining bytes, if the file is in memory.
    private var bytes: ArraySlice<UInt8> = []

    /// Opens a file; `-` is standard input.
    package init(path: String) throws(PanTraceError) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        if descriptor == -1 { throw unreadable() }
    }

    /// Reads from memory.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - name: Name for messages.
    package init(bytes: [UInt8], name: String) {
        self.bytes = bytes[...]
        self.name = name
        descriptor = nil
    }

    deinit {
        if let descriptor, descriptor > 0 { close(descriptor) }
        buffer.deallocate()
    }

    /// The next line without its end, valid until the next call. `nil` after the last one.
    package func next() throws(PanTraceError) -> UnsafeRawBufferPointer? {
        var searched = start
        while true {
            if let feed = memchr(buffer.baseAddress! + searched, 10, end - searched) {
                let length = UnsafeRawPointer(feed) - UnsafeRawPointer(buffer.baseAddress! + start)
                let line = try line(length: length)
                start += length + 1
                return line
            }
            searched = end
            if end - start > Self.longestLine { return try line(length: end - start) }
            if hasEnded {
                guard end > start else { return nil }
                defer { start = end }
                return try line(length: end - start)
            }
            searched -= start
            try fill()
            searched += start
        }
    }

    /// Skips a line that was too long; reading can go on after it.
    package func skipLine() throws(PanTraceError) {
        while true {
            if let feed = memchr(buffer.baseAddress! + start, 10, end - start) {
                start += UnsafeRawPointer(feed) - UnsafeRawPointer(buffer.baseAddress! + start) + 1
                return
            }
            start = end
            guard !hasEnded else { return }
            try fill()
        }
    }

    /// The first bytes that are not read yet, which stay so; few only at the end. Valid until the next call.
    package func head() throws(PanTraceError) -> UnsafeRawBufferPointer {
        while !hasEnded, end - start < Self.longestLine { try fill() }
        return UnsafeRawBufferPointer(rebasing: buffer[start..<end])
    }

    /// The next bytes, whatever lines they have, valid until the next call. `nil` after the last ones.
    package func nextBytes() throws(PanTraceError) -> UnsafeRawBufferPointer? {
        while !hasEnded, start == end { try fill() }
        defer { start = end }
        return start == end ? nil : UnsafeRawBufferPointer(rebasing: buffer[start..<end])
    }

    private func line(length: Int) throws(PanTraceError) -> UnsafeRawBufferPointer {
        lineNumber += 1
        guard length <= Self.longestLine else {
            throw PanTraceError(
                kind: .tooLong,
                file: name,
                line: lineNumber,
                expected: "a line of at most \(Self.longestLine) bytes"
            )
        }
        var first = start
        var last = start + length
        if lineNumber == 1, length >= 3, buffer[first] == 0xEF, buffer[first + 1] == 0xBB, buffer[first + 2] == 0xBF {
            first += 3
        }
        if last > first, buffer[last - 1] == 13 { last -= 1 }
        return UnsafeRawBufferPointer(rebasing: buffer[first..<last])
    }

    /// Moves the rest to the front and reads more behind it.
    private func fill() throws(PanTraceError) {
        if start > 0 {
            memmove(buffer.baseAddress!, buffer.baseAddress! + start, end - start)
            end -= start
            start = 0
        }
        let free = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
        guard let descriptor else {
            let piece = bytes.prefix(free.count)
            free.copyBytes(from: piece)
            bytes = bytes.dropFirst(piece.count)
            end += piece.count
            hasEnded = piece.isEmpty
            return
        }
        var count = read(descriptor, free.baseAddress, free.count)
        while count < 0, errno == EINTR { count = read(descriptor, free.baseAddress, free.count) }
        if count < 0 { throw unreadable() }
        end += count
        bytesRead += count
        hasEnded = count == 0
    }

    /// Part of the file whose lines have been returned, 0 to 1. `nil` if its size is not known.
    package var partRead: Double? {
        guard let descriptor, descriptor > 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
        return min(Double(bytesRead - (end - start)) / Double(status.st_size), 1)
    }

    private func unreadable() -> PanTraceError {
        // The mark of bytes that are not UTF-8: the file has another name.
        let isNameReplaced = name.unicodeScalars.contains("\u{FFFD}")
        return PanTraceError(
            kind: .unreadable,
            file: name,
            line: nil,
            expected: "a file that can be read" + (isNameReplaced ? ", with a name in UTF-8" : ""),
            found: String(cString: strerror(errno))
        )
    }
}
