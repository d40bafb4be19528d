/// Parses JSON in one pass.
///
/// Time and memory are linear in the number of bytes: each byte is read at most ``stepsPerByte`` times.
struct JSONParser {
    /// Bound of ``steps`` for each byte of input.
    static let stepsPerByte = 3
    /// Maximum depth of objects and lists; reports have four.
    private static let maximumDepth = 64
    /// Maximum bytes of the paths of all values: so many for each byte of the text, and for short texts.
    private static let pathBytesPerByte = 16
    private static let shortPathBytes = 65_536
    /// Maximum length of a number; encoders write shorter ones.
    private static let maximumNumberLength = 400

    private let bytes: [UInt8]
    private var index = 0
    /// Bytes of the names that lead to the present value, with those between them.
    private var pathLength = 0
    /// The same of all values so far: each is listed with its path.
    private var pathBytes = 0
    /// Bytes read so far, including repeated reads.
    private(set) var steps = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses the whole text.
    mutating func parse() throws(ReplayError) -> JSONTree {
        let tree = try value(depth: 0)
        if nextToken() != nil { throw expected("nothing after the end of the first value") }
        return tree
    }

    private mutating func value(depth: Int) throws(ReplayError) -> JSONTree {
        guard depth < Self.maximumDepth else { throw expected("at most \(Self.maximumDepth) levels") }
        pathBytes += pathLength
        guard pathBytes <= Self.pathBytesPerByte * bytes.count + Self.shortPathBytes else {
            throw expected("names of fields that are shorter, or have fewer values,")
        }
        switch nextToken() {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .flag(true))
        case UInt8(ascii: "f"): return try word("false", .flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte):
            return .number(try number())
        default: throw expected("a JSON value")
        }
    }

    private mutating func object(depth: Int) throws(ReplayError) -> JSONTree {
        index += 1
        var fields: [String: JSONTree] = [:]
        if skip(UInt8(ascii: "}")) { return .object(fields) }
        repeat {
            guard nextToken() == UInt8(ascii: "\"") else { throw expected("the name of a field") }
            let name = try string()
            pathLength += name.utf8.count + 1
            guard skip(UInt8(ascii: ":")) else { throw expected("a colon") }
            fields[name] = try value(depth: depth + 1)
            pathLength -= name.utf8.count + 1
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw expected("a comma or }") }
        return .object(fields)
    }

    private mutating func list(depth: Int) throws(ReplayError) -> JSONTree {
        index += 1
        var elements: [JSONTree] = []
        if skip(UInt8(ascii: "]")) { return .array(elements) }
        repeat { elements.append(try value(depth: depth + 1)) } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw expected("a comma or ]") }
        return .array(elements)
    }

    private mutating func word(_ word: StaticString, _ value: JSONTree) throws(ReplayError) -> JSONTree {
        let matches = word.withUTF8Buffer { letters in letters.allSatisfy { take() == $0 } }
        guard matches else { throw expected("true, false or null") }
        return value
    }

    private mutating func number() throws(ReplayError) -> Double {
        let start = index
        while let byte = take() {
            guard "0123456789.-+eE".utf8.contains(byte) else {
                index -= 1
                break
            }
        }
        guard index - start <= Self.maximumNumberLength,
            let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)), number.isFinite
        else { throw expected("a finite number") }
        return number
    }

    private mutating func string() throws(ReplayError) -> String {
        index += 1
        var units: [UInt8] = []
        while let byte = take() {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: units, as: UTF8.self) else { throw expected("UTF-8 in a text") }
                return text
            case UInt8(ascii: "\\"): try units.append(contentsOf: escape())
            case 0..<0x20: throw expected("no control character in a text")
            default: units.append(byte)
            }
        }
        throw expected("the end of a text")
    }

    private mutating func escape() throws(ReplayError) -> [UInt8] {
        switch take() {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            var units = [try hexadecimal()]
            if UTF16.isLeadSurrogate(units[0]) {
                guard take() == UInt8(ascii: "\\"), take() == UInt8(ascii: "u") else {
                    throw expected("the second half of a surrogate pair")
                }
                units.append(try hexadecimal())
            }
            guard let text = String(validating: units, as: UTF16.self) else { throw expected("a Unicode character") }
            return Array(text.utf8)
        case let byte? where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/"):
            return [byte]
        default: throw expected("one of \\n \\t \\r \\b \\f \\u \\\" \\\\ \\/")
        }
    }

    private mutating func hexadecimal() throws(ReplayError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = take(), let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                throw expected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    // MARK: - Bytes

    private mutating func take() -> UInt8? {
        guard index < bytes.count else { return nil }
        steps += 1
        index += 1
        return bytes[index - 1]
    }

    /// First byte of the next token, which is not consumed; `nil` at the end.
    private mutating func nextToken() -> UInt8? {
        while let byte = take() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                index -= 1
                return byte
            }
        }
        return nil
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard nextToken() == byte else { return false }
        index += 1
        return true
    }

    private func expected(_ what: String) -> ReplayError {
        let line = bytes[..<min(index, bytes.count)].count { $0 == 0x0A } + 1
        return ReplayError("line \(line): \(what) is expected")
    }
}
