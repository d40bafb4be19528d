#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A report as the fields of its JSON, whatever kind of report it is.
public indirect enum JSONTree: Codable, Sendable, Hashable {
    /// Fields by name.
    case object([String: JSONTree])
    /// Elements in their order.
    case array([JSONTree])
    /// A number.
    case number(Double)
    /// A text.
    case text(String)
    /// A truth value.
    case flag(Bool)
    /// A rate over nothing.
    case null

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads whichever it is.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            var fields: [String: JSONTree] = [:]
            for key in object.allKeys { fields[key.stringValue] = try object.decode(JSONTree.self, forKey: key) }
            self = .object(fields)
        } else if var list = try? decoder.unkeyedContainer() {
            var elements: [JSONTree] = []
            while !list.isAtEnd { elements.append(try list.decode(JSONTree.self)) }
            self = .array(elements)
        } else {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try value.decode(String.self))
            }
        }
    }

    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let fields):
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in fields { try container.encode(value, forKey: Name(stringValue: name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .number(let number):
            var container = encoder.singleValueContainer()
            try container.encode(number)
        case .text(let text):
            var container = encoder.singleValueContainer()
            try container.encode(text)
        case .flag(let flag):
            var container = encoder.singleValueContainer()
            try container.encode(flag)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }
}

extension JSONTree {
    /// The fields of a report.
    public init(encoding report: some Encodable) throws {
        self = try JSONDecoder().decode(JSONTree.self, from: JSONEncoder().encode(report))
    }

    /// The fields of a replay as its JSON has them: one trace alone, or several with their sums.
    public init(encoding result: ReplayResult) throws {
        self = result.traces.count == 1 ? try JSONTree(encoding: result.traces[0]) : try Self.whole(result)
    }

    private static func whole(_ result: some Encodable) throws -> JSONTree {
        try JSONDecoder().decode(JSONTree.self, from: JSONEncoder().encode(result))
    }

    /// A report of a known kind from its fields.
    static func decoded<Report: Decodable>(_ type: Report.Type, _ tree: JSONTree) throws -> Report {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(tree))
    }

    /// Reads a report that was written earlier.
    ///
    /// - Parameter path: the file.
    /// - Throws: ``CheckError`` where it cannot be read or is no JSON object.
    public init(reading path: String) throws(CheckError) {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw CheckError("\(path): a JSON report is expected, and the file cannot be read")
        }
        do { self = try JSONDecoder().decode(JSONTree.self, from: data) } catch {
            throw CheckError("\(path): a report as --format json writes it is expected; this is no JSON")
        }
        guard case .object = self else { throw CheckError("\(path): a JSON object is expected") }
    }

    /// The fields of a replay of nothing, to look up which there are before a long run.
    public static func emptyReplay(_ options: ReplayOptions) -> JSONTree? {
        let scene = try? PanTraceScene(BuiltInSession(seed: 1).header, name: "")
        return try? JSONTree(
            encoding: ReplayTally().report(
                trace: .init(name: "", source: "", hash: "", frames: 0, seconds: 0),
                configuration: options.resolvedConfiguration(scene: scene, byteLimit: nil)
            )
        )
    }

    /// Every value that is no object and no list, with its path: `rows[2].hitRate`.
    var leaves: [(path: String, value: JSONTree)] {
        var leaves: [(String, JSONTree)] = []
        collect(into: &leaves, path: "")
        return leaves
    }

    private func collect(into leaves: inout [(String, JSONTree)], path: String) {
        switch self {
        case .object(let fields):
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                value.collect(into: &leaves, path: path.isEmpty ? name : path + "." + name)
            }
        case .array(let elements):
            for (index, value) in elements.enumerated() { value.collect(into: &leaves, path: "\(path)[\(index)]") }
        default: leaves.append((path, self))
        }
    }

    /// A path without the numbers of elements.
    static func general(_ path: String) -> String {
        var result = ""
        var isInside = false
        for character in path {
            if character == "[" { isInside = true }
            if !isInside { result.append(character) }
            if character == "]" { isInside = false }
        }
        return result
    }

    /// As people read it.
    var shown: String {
        switch self {
        case .number(let value): value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
        case .text(let text): text.printable
        case .flag(let flag): "\(flag)"
        case .null: "null"
        case .object, .array: "an object"
        }
    }
}

/// Any report as JSON.
public enum JSONText {
    /// One object with sorted keys, so that two runs can be compared line by line; it ends with one line feed.
    public static func of(_ report: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }

    /// The same in one line that may stand within a page: no `<`, `>` or `&`, so that nothing ends a script early.
    static func embedded(_ report: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self).reduce(into: "") { text, character in
            switch character {
            case "<": text += "\\u003c"
            case ">": text += "\\u003e"
            case "&": text += "\\u0026"
            default: text.append(character)
            }
        }
    }
}
