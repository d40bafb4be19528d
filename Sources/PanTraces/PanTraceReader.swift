import TileCache

/// A stream of the samples of a trace: a file, a list, the built-in session.
public protocol PanSampleStream {
    /// Returns the next sample; `nil` after the last one. Times increase strictly from 0, all numbers are finite,
    /// scales are larger than 0.
    mutating func nextSample() throws(PanTraceError) -> PanTraceSample?
}

/// Reads a pan trace sample by sample, in constant memory, and rejects invalid input.
///
/// Accepted, because editors and systems write them: carriage returns before line feeds, a byte order mark, empty lines
/// at the end, no line feed at the end. Everything else is an error; nothing is guessed. Samples more than 30 days
/// apart are an error, too: their times are hardly seconds, and the time between them is replayed frame by frame.
public final class PanTraceReader: PanSampleStream {
    /// Header of the trace.
    public let header: PanTraceHeader
    /// Whether the trace has the column `rotation`.
    public let hasRotation: Bool
    /// The name of the file for messages.
    public var name: String { lines.name }

    /// Part of the file that has been read, 0 to 1. `nil` if its size is not known.
    package var partRead: Double? { lines.partRead }

    private let lines: LineReader
    private let columnCount: Int
    private var lastTime: Int64?

    /// Longest time from one sample to the next, in days.
    private static let mostDays: Int64 = 30

    /// Opens a trace and reads its header.
    ///
    /// - Parameter path: A file, or `-` for standard input.
    public convenience init(path: String) throws(PanTraceError) {
        try self.init(LineReader(path: path))
    }

    /// Reads a trace from memory.
    ///
    /// - Parameters:
    ///   - text: The whole trace.
    ///   - name: Name for messages.
    public convenience init(text: String, name: String = "trace") throws(PanTraceError) {
        try self.init(bytes: Array(text.utf8), name: name)
    }

    /// Reads a trace from memory.
    ///
    /// - Parameters:
    ///   - bytes: The whole trace.
    ///   - name: Name for messages.
    public convenience init(bytes: [UInt8], name: String = "trace") throws(PanTraceError) {
        try self.init(LineReader(bytes: bytes, name: name))
    }

    private init(_ lines: LineReader) throws(PanTraceError) {
        self.lines = lines
        (header, hasRotation) = try PanTraceHeaderParser.parse(lines)
        columnCount = hasRotation ? 5 : 4
    }

    /// Returns the next sample; `nil` after the last one.
    ///
    /// - Throws: ``PanTraceError`` with the number of the line; also if the trace ends without a sample. Reading cannot
    ///   continue after an error.
    public func nextSample() throws(PanTraceError) -> PanTraceSample? {
        guard let line = try lines.next(), try !onlyEmptyLinesFollow(line) else {
            guard lastTime != nil else { throw error(.noSamples, "at least one sample after the column names") }
            return nil
        }
        return try sample(line)
    }

    /// Whether this line and all lines after it are empty.
    private func onlyEmptyLinesFollow(_ line: UnsafeRawBufferPointer) throws(PanTraceError) -> Bool {
        guard line.isEmpty else { return false }
        let firstEmpty = lines.lineNumber
        while let next = try lines.next() {
            guard next.isEmpty else {
                throw PanTraceError(
                    kind: .blankLine,
                    file: name,
                    line: firstEmpty,
                    expected: "a sample",
                    found: "an empty line"
                )
            }
        }
        return true
    }

    private func sample(_ line: UnsafeRawBufferPointer) throws(PanTraceError) -> PanTraceSample {
        var fields = FieldSplitter(line)
        let time = try number(fields.next(), "a time in seconds", line)
        let x = try number(fields.next(), "a horizontal centre in world pixels", line)
        let y = try number(fields.next(), "a vertical centre in world pixels", line)
        let scale = try number(fields.next(), "a scale", line)
        var rotation: DecimalNumber?
        if hasRotation { rotation = try number(fields.next(), "a rotation in radians", line) }
        guard fields.isAtEnd else { throw wrongColumnCount(line) }

        guard let nanoseconds = time.billionths else {
            throw error(.notFinite, "a time below 9.2e9 seconds", line)
        }
        if let lastTime {
            guard nanoseconds > lastTime else {
                let last = Double(lastTime) / 1e9
                throw error(.timeNotIncreasing, "a time later than \(last) s by a nanosecond or more", line)
            }
            guard nanoseconds - lastTime <= Self.mostDays * 86_400_000_000_000 else {
                let last = Double(lastTime) / 1e9
                throw error(.timeTooLate, "a time in seconds, at most \(Self.mostDays) days after \(last) s", line)
            }
        } else if nanoseconds != 0 {
            throw error(.firstTimeNotZero, "a first sample at time 0", line)
        }
        var sample = PanTraceSample(
            time: nanoseconds,
            center: WorldPoint(
                x: try finite(x, "a horizontal centre", line),
                y: try finite(y, "a vertical centre", line)
            ),
            scale: try finite(scale, "a scale", line)
        )
        if let rotation { sample.rotation = try finite(rotation, "a rotation", line) }
        guard sample.scale > 0 else { throw error(.scaleNotPositive, "a scale larger than 0", line) }
        lastTime = nanoseconds
        return sample
    }

    private func number(
        _ field: UnsafeRawBufferPointer?,
        _ expected: @autoclosure () -> String,
        _ line: UnsafeRawBufferPointer
    ) throws(PanTraceError) -> DecimalNumber {
        guard let field else { throw wrongColumnCount(line) }
        if let number = DecimalNumber(field) { return number }
        let hasAllColumns = line.lazy.filter { $0 == UInt8(ascii: ",") }.count + 1 == columnCount
        guard hasAllColumns else { throw wrongColumnCount(line) }
        let isSpecial = Double(String(decoding: field, as: UTF8.self)).map { !$0.isFinite } ?? false
        throw error(
            isSpecial ? .notFinite : .notANumber,
            "\(expected()) as a \(isSpecial ? "finite " : "")decimal number",
            field
        )
    }

    private func finite(
        _ number: DecimalNumber,
        _ expected: @autoclosure () -> String,
        _ line: UnsafeRawBufferPointer
    ) throws(PanTraceError) -> Double {
        let value = number.double
        guard value.isFinite else { throw error(.notFinite, "\(expected()) as a finite decimal number", line) }
        return value
    }

    private func wrongColumnCount(_ line: UnsafeRawBufferPointer) -> PanTraceError {
        let columns = hasRotation ? PanTraceFormat.columnsWithRotation : PanTraceFormat.columns
        return error(.wrongColumnCount, "the \(columnCount) columns \(columns)", line)
    }

    private func error(
        _ kind: PanTraceError.Kind,
        _ expected: String,
        _ found: UnsafeRawBufferPointer? = nil
    ) -> PanTraceError {
        PanTraceError(
            kind: kind,
            file: name,
            line: lines.lineNumber,
            expected: expected,
            found: found.map { PanTraceError.quoted($0) }
        )
    }
}

/// Splits a line at its commas.
private struct FieldSplitter {
    private let line: UnsafeRawBufferPointer
    private var position = 0
    /// Whether the last field has been returned.
    var isAtEnd: Bool { position > line.count }

    init(_ line: UnsafeRawBufferPointer) {
        self.line = line
    }

    /// Returns the next field; `nil` if there are no more.
    mutating func next() -> UnsafeRawBufferPointer? {
        guard !isAtEnd else { return nil }
        var index = position
        while index < line.count, line[index] != UInt8(ascii: ",") { index += 1 }
        defer { position = index + 1 }
        return UnsafeRawBufferPointer(rebasing: line[position..<index])
    }
}
