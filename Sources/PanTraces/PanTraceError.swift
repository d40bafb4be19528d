/// Why a pan trace cannot be replayed: which file, which line, and what was expected there.
public struct PanTraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of fault, for programs; people read ``PanTraceError/description``.
    public enum Kind: Hashable, Sendable {
        /// The file cannot be opened or read.
        case unreadable
        /// There is not a byte in it.
        case empty
        /// The line `# pan-trace: 1` is not there.
        case missingHeader
        /// A `#` line that is not `# key: value`, or a known key with a value that makes no sense.
        case badHeader
        /// A version that this program does not read.
        case unknownVersion
        /// The line of column names is not there, or names other columns.
        case missingColumns
        /// A line that is longer than any line can be, or a header without end.
        case tooLong
        /// A line with fewer or more columns than were named: one that was cut off, perhaps.
        case wrongColumnCount
        /// Text where a number should be.
        case notANumber
        /// NaN or infinity.
        case notFinite
        /// A first sample that is not at 0.
        case firstTimeNotZero
        /// A time that is not later than the one before it.
        case timeNotIncreasing
        /// A scale of 0 or less.
        case scaleNotPositive
        /// An empty line with samples after it.
        case blankLine
        /// A header and nothing else.
        case noSamples
        /// Neither the header nor a flag gives the size of the viewport.
        case missingViewport
        /// Neither the header nor a flag gives the size of the world.
        case missingWorld
    }

    /// The kind of fault.
    public var kind: Kind
    /// The name of the file as it was given; `standard input` for `-`.
    public var file: String
    /// The number of the line, from 1; `nil` where the fault is the file's as a whole.
    public var line: Int?
    /// What was expected.
    public var expected: String
    /// What stands there instead, shortened; `nil` where there is nothing to show.
    public var found: String?

    /// Makes an error; see the properties.
    public init(kind: Kind, file: String, line: Int?, expected: String, found: String? = nil) {
        self.kind = kind
        self.file = file
        self.line = line
        self.expected = expected
        self.found = found
    }

    /// One line for a person: `drag.csv:17: expected a scale larger than 0, found "0"`.
    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": expected \(expected)" + (found.map { ", found \($0)" } ?? "")
    }

    /// The beginning of some bytes of a file, in quotes, fit to be printed on any terminal.
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
