/// Why a pan trace cannot be replayed: the file, the line, what was expected.
public struct PanTraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of error, for programs; ``PanTraceError/description`` is for display.
    public enum Kind: Hashable, Sendable {
        /// The file cannot be opened or read.
        case unreadable
        /// The file is empty.
        case empty
        /// The line `# pan-trace: 1` is missing.
        case missingHeader
        /// A `#` line is not `# key: value`, or a known key has an invalid value.
        case badHeader
        /// The version is not supported.
        case unknownVersion
        /// The line of column names is missing, or names other columns.
        case missingColumns
        /// A line exceeds the maximum length, or the header does not end.
        case tooLong
        /// A line has fewer or more columns than were named; it may be truncated.
        case wrongColumnCount
        /// A field is not a number.
        case notANumber
        /// A number is NaN or infinite.
        case notFinite
        /// The first sample is not at 0.
        case firstTimeNotZero
        /// A time is not later than the one before.
        case timeNotIncreasing
        /// A time is more than 30 days later than the one before; it may not be in seconds.
        case timeTooLate
        /// A scale is 0 or less.
        case scaleNotPositive
        /// An empty line has samples after it.
        case blankLine
        /// The trace has a header and no samples.
        case noSamples
        /// Neither the header nor a flag gives the size of the viewport.
        case missingViewport
        /// Neither the header nor a flag gives the size of the world.
        case missingWorld
    }

    /// Kind of the error.
    public var kind: Kind
    /// Name of the file as it was given; `standard input` for `-`.
    public var file: String
    /// Number of the line, from 1; `nil` if the error concerns the whole file.
    public var line: Int?
    /// What was expected.
    public var expected: String
    /// The text found instead, shortened; `nil` if there is nothing to show.
    public var found: String?

    /// Creates an error.
    public init(kind: Kind, file: String, line: Int?, expected: String, found: String? = nil) {
        self.kind = kind
        self.file = file
        self.line = line
        self.expected = expected
        self.found = found
    }

    /// One line for display: `drag.csv:17: expected a scale larger than 0, found "0"`.
    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": expected \(expected)" + (found.map { ", found \($0)" } ?? "")
    }

    /// The first of some bytes of a file, in quotes, safe on any terminal.
    package static func quoted(_ bytes: some Sequence<UInt8>) -> String {
        var text = "\""
        for (index, byte) in bytes.enumerated() {
            if index == 40 { return text + "...\"" }
            text += (0x20...0x7E).contains(byte) ? String(UnicodeScalar(byte)) : "\\x" + hex(byte)
        }
        return text + "\""
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
