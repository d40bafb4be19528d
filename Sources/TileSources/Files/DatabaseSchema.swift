/// The tables and views of an untrusted database, checked before SQLite compiles a query of them.
///
/// SQLite copies a view's text for each reference to it: twenty views that reference each other twice exhaust memory
/// before any step is counted. No authorizer is called for the functions of generated columns.
struct DatabaseSchema {
    private struct Statement {
        var isView: Bool
        /// The words after the name, in lower case; none for a table.
        var words: [String]
        var isUnsafe: Bool
    }

    /// Maximum number of words of a query, with its views expanded.
    var largestExpansion = DatabaseLimits().expansion

    private var statements: [String: Statement] = [:]

    /// Takes a row of `sqlite_master`; returns `false` if the statement is not as SQLite writes it.
    mutating func add(_ name: String, _ sql: String) -> Bool {
        let harmless = ["CREATE INDEX ", "CREATE UNIQUE INDEX ", "CREATE TRIGGER ", "CREATE VIRTUAL TABLE "]
        if harmless.contains(where: sql.hasPrefix) { return true }
        let isView = sql.hasPrefix("CREATE VIEW ")
        guard isView || sql.hasPrefix("CREATE TABLE ") else { return false }
        var rest = sql.utf8.dropFirst(isView ? 12 : 13)
        let quote = rest.first.flatMap { "\"'`[".utf8.contains($0) ? $0 : nil }
        if quote != nil { rest = rest.dropFirst() }
        guard let key = Self.words(Self.spaced(name.utf8)).first?.text,
            rest.lazy.map(Self.lower).starts(with: name.utf8.lazy.map(Self.lower))
        else { return false }
        rest = rest.dropFirst(name.utf8.count)
        if let quote {
            // What follows is read without it: it would begin a text.
            guard rest.popFirst() == (quote == UInt8(ascii: "[") ? UInt8(ascii: "]") : quote) else { return false }
        } else if rest.first.map(Self.isWord) ?? true {
            return false
        }
        let words = Self.words(Self.withoutComments(Self.spaced(rest)))
        // Common table expressions expand like views; `AS (` begins the expression of a generated column.
        let isUnsafe = words.contains { isView ? $0.text == "with" : $0.text == "as" && $0.opens }
        // Names of several words that share the first one count together.
        let other = statements[key]
        statements[key] = Statement(
            isView: isView || other?.isView == true,
            words: (other?.words ?? []) + words.map(\.text),
            isUnsafe: isUnsafe || other?.isUnsafe == true
        )
        return true
    }

    /// Explains why queries of a table or view would be unsafe; `nil` if they are not.
    func refusal(of root: String) -> String? {
        var sizes: [String: Int] = [:]
        var isUnsafe = false
        /// Counts the words of a statement with its views expanded. A view being counted is part of a cycle.
        func size(_ name: String) -> Int {
            if let known = sizes[name] { return known }
            guard let statement = statements[name] else { return 0 }
            isUnsafe = isUnsafe || statement.isUnsafe
            guard statement.isView else { return 0 }
            sizes[name] = largestExpansion + 1
            var sum = 0
            for word in statement.words where sum <= largestExpansion { sum += 1 + size(word) }
            sizes[name] = sum
            return sum
        }
        // As they are kept: by the first word of the name.
        if size(Self.words(Array(root.utf8)).first?.text ?? root) > largestExpansion {
            return "its views refer to each other too often"
        }
        return isUnsafe ? "it uses generated columns or common table expressions" : nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 128...: true
        default: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower(byte))
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// A text in which byte order marks are spaces: SQLite skips one that begins a token.
    private static func spaced(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes = Array(text)
        for index in bytes.indices.dropLast(2)
        where bytes[index] == 0xEF && bytes[index + 1] == 0xBB && bytes[index + 2] == 0xBF {
            bytes.replaceSubrange(index..<index + 3, with: [32, 32, 32])
        }
        return bytes
    }

    /// A text in which comments are spaces, up to its first variable: SQLite reads `$a(...)` as a name, whatever is in it.
    private static func withoutComments(_ text: [UInt8]) -> [UInt8] {
        var bytes = text
        var quote: UInt8?
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            var end = place + 1
            if let mark = quote {
                if byte == mark { quote = nil }
            } else if "\"'`[".utf8.contains(byte) {
                quote = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
            } else if "$@:#".utf8.contains(byte) {
                break
            } else if byte == UInt8(ascii: "-"), next == byte {
                end = bytes[place...].firstIndex(of: 10) ?? bytes.count
            } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "*") {
                end = place + 2
                while end < bytes.count, !bytes[end...].starts(with: "*/".utf8) { end += 1 }
                end = min(end + 2, bytes.count)
            }
            if end > place + 1 {
                bytes.replaceSubrange(place..<end, with: repeatElement(32, count: end - place))
            }
            place = end
        }
        return bytes
    }

    /// Splits a text into words in lower case. With each: whether a parenthesis or a comment follows.
    private static func words(_ text: [UInt8]) -> [(text: String, opens: Bool)] {
        var words: [(text: String, opens: Bool)] = []
        var rest = text[...]
        while let start = rest.firstIndex(where: isWord) {
            let end = rest[start...].firstIndex { !isWord($0) } ?? rest.endIndex
            rest = rest[start...]
            let word = String(decoding: rest[..<end], as: UTF8.self).lowercased()
            rest = rest[end...].drop { $0 <= 32 }
            words.append((word, rest.first.map { "(/-".utf8.contains($0) } ?? false))
        }
        return words
    }
}
