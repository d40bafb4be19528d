/// A parsed JSON text.
enum JSONValue: Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// The first of members with the same name counts.
    case object([String: JSONValue])

    /// Levels of nesting that are read; deeper ones are an error.
    static let deepest = 32

    /// Parses a text.
    ///
    /// - Throws: ``TileSourceError`` with the byte at which something else was expected.
    init(_ bytes: [UInt8], path: String) throws(TileSourceError) {
        var parser = JSONParser(bytes: bytes, path: path)
        self = try parser.whole()
    }

    subscript(name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// A whole number.
    var whole: Int? { if case .number(let number) = self { Int(exactly: number) } else { nil } }

    /// Short form for messages.
    var summary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .string(let text): "\"\(text.withoutPasswords.prefix(60))\""
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .object: "an object"
        }
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    let path: String
    var place = 0

    mutating func whole() throws(TileSourceError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        let value = try value(depth: 0)
        skipSpace()
        guard place == bytes.count else { throw failure("the end of the text") }
        return value
    }

    private func failure(_ expected: String) -> TileSourceError {
        TileSourceError(path, "JSON was expected: \(expected) at byte \(place)")
    }

    private mutating func skipSpace() {
        while place < bytes.count, [32, 9, 10, 13].contains(bytes[place]) { place += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard place < bytes.count, bytes[place] == character.asciiValue else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) throws(TileSourceError) -> JSONValue {
        guard depth <= JSONValue.deepest else { throw failure("at most \(JSONValue.deepest) levels of nesting") }
        skipSpace()
        guard place < bytes.count else { throw failure("a value") }
        switch bytes[place] {
        case UInt8(ascii: "{"):
            place += 1
            return try members(depth)
        case UInt8(ascii: "["):
            place += 1
            return try elements(depth)
        case UInt8(ascii: "\""): return .string(try string())
        default: return try word()
        }
    }

    private mutating func members(_ depth: Int) throws(TileSourceError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            guard take(":") else { throw failure("a colon") }
            let value = try value(depth: depth + 1)
            if members[name] == nil { members[name] = value }
            skipSpace()
        } while take(",")
        guard take("}") else { throw failure("a comma or }") }
        return .object(members)
    }

    private mutating func elements(_ depth: Int) throws(TileSourceError) -> JSONValue {
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw failure("a comma or ]") }
        return .array(elements)
    }

    private mutating func string() throws(TileSourceError) -> String {
        guard take("\"") else { throw failure("a string") }
        var text: [UInt16] = []
        var plain = place
        // Bytes between escapes are UTF-8.
        func rest(_ bytes: [UInt8], _ end: Int) -> String.UTF16View {
            String(decoding: bytes[plain..<end], as: UTF8.self).utf16
        }
        while place < bytes.count {
            let byte = bytes[place]
            guard byte >= 32 else { throw failure("no control character") }
            place += 1
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            text += rest(bytes, place - 1)
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF16.self) }
            text.append(try escape())
            plain = place
        }
        throw failure("the end of a string")
    }

    private mutating func escape() throws(TileSourceError) -> UInt16 {
        guard place < bytes.count else { throw failure("an escape") }
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "f"): return 12
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "u"):
            let digits = String(decoding: bytes[place..<min(place + 4, bytes.count)], as: UTF8.self)
            guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt16(digits, radix: 16) else {
                throw failure("four hexadecimal digits")
            }
            place += 4
            return unit
        default: throw failure("an escape")
        }
    }

    private mutating func word() throws(TileSourceError) -> JSONValue {
        let start = place
        while place < bytes.count, ![32, 9, 10, 13, 44, 58, 93, 125].contains(bytes[place]) { place += 1 }
        switch String(decoding: bytes[start..<place], as: UTF8.self) {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let text:
            guard let first = text.utf8.first, first == UInt8(ascii: "-") || (48...57).contains(first),
                let number = Double(text), number.isFinite
            else {
                place = start
                throw failure("a value")
            }
            return .number(number)
        }
    }
}
