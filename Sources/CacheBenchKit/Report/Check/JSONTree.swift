import Foundation
import PanTraces
import TileCache

/// A report of any kind as the fields of its JSON.
package indirect enum JSONTree: Sendable, Hashable {
    case object([String: JSONTree])
    case array([JSONTree])
    case number(Double)
    case text(String)
    case flag(Bool)
    /// A rate without a value.
    case null
}

extension JSONTree {
    /// Maximum file size of ``init(reading:)``.
    static let maximumFileBytes = 32 << 20
    /// Maximum depth of objects and lists; reports have five. Paths take as much time and memory.
    private static let maximumDepth = 16

    package init(encoding report: some Encodable) throws {
        try self.init(parsing: JSONEncoder().encode(report))
    }

    /// Parses a text. A decoder would be asked for each kind in turn, and throw an error for each that a value is not.
    init(parsing text: Data) throws {
        try self.init(JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed), depth: 0)
    }

    private init(_ value: Any, depth: Int) throws {
        try require(depth <= Self.maximumDepth, "at most \(Self.maximumDepth) levels of objects and lists")
        switch value {
        case let fields as [String: Any]: self = .object(try fields.mapValues { try Self($0, depth: depth + 1) })
        case let elements as [Any]: self = .array(try elements.map { try Self($0, depth: depth + 1) })
        case let text as String: self = .text(text)
        case let number as NSNumber:
            // Truth values are numbers too, of this type. Others may be decimal, whose doubleValue is not the nearest one.
            let isFlag = String(cString: number.objCType) == "c"
            self = isFlag ? .flag(number.boolValue) : .number(Double(number.stringValue) ?? number.doubleValue)
        default: self = .null
        }
    }

    /// Reads an earlier report.
    init(reading path: String, maximumBytes: Int = JSONTree.maximumFileBytes) throws(ReplayError) {
        guard let bytes = Self.bytes(of: path, atMost: maximumBytes + 1) else {
            throw ReplayError("\(path): a JSON report is expected, and the file cannot be read")
        }
        guard bytes.count <= maximumBytes else {
            throw ReplayError("\(path): a JSON report of at most \(maximumBytes >> 20) MiB is expected")
        }
        let expected = "\(path): a report as --format json writes it is expected"
        do { self = try JSONTree(parsing: Data(bytes)) } catch {
            let details = (error as NSError).userInfo["NSDebugDescription"] as? String
            let reason = (error as? ReplayError)?.description ?? details
            throw ReplayError(expected + (reason.map { "; \($0)" } ?? ""))
        }
        guard case .object = self, pathBytes(0) <= 16 * bytes.count + 65_536 else { throw ReplayError(expected) }
    }

    /// Bytes of the paths of all values, which ``leaves`` lists: a long name may have many values.
    private func pathBytes(_ before: Int) -> Int {
        switch self {
        case .object(let fields): fields.reduce(before) { $0 + $1.value.pathBytes(before + $1.key.utf8.count + 1) }
        case .array(let elements): elements.reduce(before) { $0 + $1.pathBytes(before) }
        default: before
        }
    }

    /// Reads the file's bytes up to a maximum, since a device may have no end.
    private static func bytes(of path: String, atMost count: Int) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            let read = fread(&block, 1, block.count, file)
            bytes += block.prefix(read)
            if read < block.count { return ferror(file) == 0 ? bytes : nil }
        }
        return bytes
    }

    /// Fields of a report of an empty replay, to check paths before a long run.
    ///
    /// - Parameters:
    ///   - hasSource: Whether the tiles are those of a source.
    ///   - storeCount: Number of stores under the real clock.
    package static func emptyReplay(
        _ options: ReplayOptions,
        hasSource: Bool = false,
        storeCount: Int = 0
    ) -> JSONTree? {
        let scene = try? PanTraceScene(BuiltInSession(seed: 1).header, name: "")
        var tally = ReplayTally()
        tally.textures = options.textures.map { _ in ReplayTextureSums() }
        tally.tiers = options.tiers.map { .init(name: $0.name) } + (0..<storeCount).map { .init(name: "\($0)") }
        if storeCount > 0 { tally.memory.storeBytes = 0 }
        tally.tileSource = hasSource ? ReplaySourceCounts() : nil
        // Without a frame there are no waits to report.
        if options.clock == .real { tally.service.frameCosts.add(0) }
        let report = tally.pooledReport(
            name: "",
            configuration: options.resolvedConfiguration(scene: scene, byteLimit: nil)
        )
        return try? JSONTree(encoding: ReplayResult(traces: [report], total: report, sources: [report]))
    }

    /// All values except objects and lists, with their paths: `rows[2].hitRate`.
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

    /// The last name of a path, without the number of an element.
    static func lastName(_ path: String) -> String { general(path).split(separator: ".").last.map(String.init) ?? path }

    /// A path without the numbers of elements.
    static func general(_ path: String) -> String {
        let parts = path.split(separator: "[", omittingEmptySubsequences: false)
        return String(parts[0]) + parts.dropFirst().map { $0.drop { $0 != "]" }.dropFirst() }.joined(separator: "")
    }

    var shown: String {
        switch self {
        case .number(let value): Figures.plain(value)
        case .text(let text): text.printable
        case .flag(let flag): "\(flag)"
        case .null: "null"
        case .object, .array: "an object"
        }
    }
}

package enum JSONText {
    /// One object with sorted keys, ended by one line feed. Two runs can be compared line by line.
    package static func of(_ report: some Encodable) throws -> String {
        try encoded(report, .prettyPrinted) + "\n"
    }

    /// The same on one line, safe within a page. It has no `<`, `>` or `&`, so that nothing ends a script early.
    static func embedded(_ report: some Encodable) throws -> String {
        try encoded(report, []).reduce(into: "") { text, character in
            switch character {
            case "<": text += "\\u003c"
            case ">": text += "\\u003e"
            case "&": text += "\\u0026"
            default: text.append(character)
            }
        }
    }

    private static func encoded(_ report: some Encodable, _ format: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [format, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }
}
