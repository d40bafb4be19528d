/// Kinds of files that can be imported.
package enum ImportKind: String, CaseIterable, Sendable {
    case accessLog = "access log"
    case har = "HAR"
    case gpx = "GPX"
    case kml = "KML"
    case table = "table"

    /// Recognises a file: by its content, and where that says nothing by its name.
    ///
    /// - Parameters:
    ///   - name: Name of the file, or `standard input`.
    ///   - head: The first bytes of it, all of a short file.
    /// - Throws: ``ImportError`` that says what the file is, or what was expected.
    package static func of(name: String, head: some Collection<UInt8>) throws(ImportError) -> ImportKind {
        let head = head.prefix(65_536)
        if head.starts(with: [0x1F, 0x8B]) {
            throw ImportError(name, "is compressed: zcat FILE | cachebench import - --output FOLDER")
        }
        if head.starts(with: "PK".utf8) {
            throw ImportError(name, "is a ZIP file: unpack it, and import what is in it")
        }
        let text = String(decoding: head, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        let lowered = name.lowercased()
        if text.hasPrefix("# pan-trace") { throw ImportError(name, "is a pan trace already") }
        if text.hasPrefix("<") {
            if text.contains("<gpx") { return .gpx }
            if text.contains("<kml") { return .kml }
        }
        if text.hasPrefix("{"), !isJSONLines(text), text.contains("\"log\"") || lowered.hasSuffix(".har") {
            return .har
        }
        let lines = text.split(whereSeparator: \.isNewline)
        let isLog = lines.contains { line in
            Array(line.utf8).withUnsafeBytes {
                AccessLogLine($0) != nil || NamedFieldsLog($0) != nil || LogRequest(json: $0) != nil
            }
        }
        if isLog { return .accessLog }
        if let first = lines.first, TableColumns(first) != nil { return .table }
        if lowered.hasSuffix(".log") || lowered.contains("access") { return .accessLog }
        if lowered.hasSuffix(".gpx") { return .gpx }
        if lowered.hasSuffix(".kml") { return .kml }
        throw ImportError(
            name,
            "is none of: an access log of nginx, Apache, Caddy or CloudFront, HAR, GPX, a KML tour or track, a table with "
                + "columns time, x and y"
        )
    }
}

extension ImportKind {
    /// Whether the first line is whole by itself, as in Caddy's log.
    private static func isJSONLines(_ text: Substring) -> Bool {
        guard let line = text.split(whereSeparator: \.isNewline).first else { return false }
        return Array(line.utf8).withUnsafeBytes { LogRequest(json: $0) != nil }
    }
}

/// A file that cannot be imported.
package struct ImportError: Error, CustomStringConvertible {
    package let description: String

    init(_ name: String, _ reason: String) { description = "\(name): \(reason)" }
}
