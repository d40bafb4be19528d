import TileCache

/// Parses the `# key: value` lines and the line of column names.
struct PanTraceHeaderParser {
    /// Bounds the memory for a header that does not end.
    static let mostLines = 1000

    private let lines: LineReader
    private var header = PanTraceHeader()
    private var hasVersion = false
    private var known: Set<String> = []

    /// Reads up to the line of column names.
    ///
    /// - Returns: The header, and whether the samples have the column `rotation`.
    static func parse(_ lines: LineReader) throws(PanTraceError) -> (PanTraceHeader, hasRotation: Bool) {
        var parser = PanTraceHeaderParser(lines: lines)
        while let line = try lines.next() {
            guard line.first == UInt8(ascii: "#") else { return (parser.header, try parser.columns(line)) }
            try parser.add(line)
        }
        if lines.isEmpty {
            throw PanTraceError(kind: .empty, file: lines.name, line: nil, expected: "a pan trace", found: "no text")
        }
        throw parser.hasVersion
            ? parser.error(.missingColumns, "the line \(PanTraceFormat.columns)", found: "the end of the file")
            : parser.missingVersion(found: "the end of the file")
    }

    private init(lines: LineReader) {
        self.lines = lines
    }

    private func columns(_ line: UnsafeRawBufferPointer) throws(PanTraceError) -> Bool {
        guard hasVersion else { throw missingVersion(found: PanTraceError.quoted(line)) }
        if line.elementsEqual(PanTraceFormat.columns.utf8) { return false }
        if line.elementsEqual(PanTraceFormat.columnsWithRotation.utf8) { return true }
        throw error(
            .missingColumns,
            "the column names \(PanTraceFormat.columns), or the same with ,rotation",
            found: PanTraceError.quoted(line)
        )
    }

    private mutating func add(_ line: UnsafeRawBufferPointer) throws(PanTraceError) {
        guard lines.lineNumber <= Self.mostLines else {
            throw error(.tooLong, "at most \(Self.mostLines) header lines", found: nil)
        }
        guard let text = String(validating: line.dropFirst(), as: UTF8.self),
            let colon = text.firstIndex(of: ":"), case let key = Self.trimmed(text[..<colon]), !key.isEmpty
        else {
            throw error(.badHeader, "a header line of the form # key: value", found: PanTraceError.quoted(line))
        }
        let value = Self.trimmed(text[text.index(after: colon)...])
        switch key {
        case "pan-trace":
            guard value == String(PanTraceFormat.version) else {
                throw error(
                    .unknownVersion,
                    "pan-trace version \(PanTraceFormat.version)",
                    found: PanTraceError.quoted(value.utf8)
                )
            }
            hasVersion = true
        case "viewport":
            header.viewport = try require(
                PanTraceHeader.Size(viewport: value),
                "a viewport such as 1280x720",
                found: value
            )
        case "world":
            header.world = try require(
                PanTraceHeader.Size(world: value),
                "a world in whole pixels such as 131072x131072",
                found: value
            )
        case "wraps_x":
            header.wrapsX = try require(Bool(value), "wraps_x: true or false", found: value)
        case "tile_size":
            header.tileSize = try require(
                Int(value).flatMap { PanTraceHeader.tileSizes ~= $0 ? $0 : nil },
                "a tile_size from 1 to 65536 pixels",
                found: value
            )
        case "view":
            header.viewName = value
        default:
            header.otherEntries.append(.init(key: key, value: value))
            return
        }
        // The intended one of two values is unknown.
        guard known.insert(key).inserted else {
            throw error(.badHeader, "the key \(key) once", found: "it a second time")
        }
    }

    /// Unwraps a parsed value, or throws an error with what was expected.
    private func require<Value>(
        _ value: Value?,
        _ expected: String,
        found: String
    ) throws(PanTraceError) -> Value {
        guard let value else { throw error(.badHeader, expected, found: PanTraceError.quoted(found.utf8)) }
        return value
    }

    private func missingVersion(found: String) -> PanTraceError {
        error(.missingHeader, "the line # pan-trace: \(PanTraceFormat.version) before the column names", found: found)
    }

    private func error(_ kind: PanTraceError.Kind, _ expected: String, found: String?) -> PanTraceError {
        PanTraceError(kind: kind, file: lines.name, line: lines.lineNumber, expected: expected, found: found)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.unicodeScalars.first, first == " " || first == "\t" { text.unicodeScalars.removeFirst() }
        while let last = text.unicodeScalars.last, last == " " || last == "\t" { text.unicodeScalars.removeLast() }
        return String(text)
    }
}
