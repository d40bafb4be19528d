import Foundation
import TestSupport
import Testing
import TileCache

@testable import CacheBenchKit

/// Parsing of foreign JSON: values, costs and refusals.
@Suite struct JSONParserTests {
    private func parse(_ text: String) throws -> JSONTree {
        var parser = JSONParser(Array(text.utf8))
        return try parser.parse()
    }

    private func tree(_ dice: inout SplitMix64, depth: Int) -> JSONTree {
        switch dice.below(depth > 4 ? 4 : 6) {
        case 0: return .null
        case 1: return .flag(dice.below(2) == 0)
        case 2:
            let number = Double(bitPattern: dice.next())
            return .number(number.isFinite ? number : Double(dice.below(1_000_000)) / 7)
        case 3:
            let letters = ["a", "\"", "\\", "/", "\n", "\u{1}", "\u{7F}", "é", "\u{2028}", "𝄞", "\u{FFFD}", " "]
            return .text((0..<dice.below(9)).map { _ in letters[dice.below(letters.count)] }.joined())
        case 4: return .array((0..<dice.below(5)).map { _ in tree(&dice, depth: depth + 1) })
        default:
            let pairs = (0..<dice.below(5)).map { ("k\($0)\"\\", tree(&dice, depth: depth + 1)) }
            return .object(Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
        }
    }

    private func value(_ tree: JSONTree) -> Any {
        switch tree {
        case .object(let fields): fields.mapValues { value($0) }
        case .array(let elements): elements.map { value($0) }
        case .number(let number): number
        case .text(let text): text
        case .flag(let flag): flag
        case .null: NSNull()
        }
    }

    /// Values that another program writes are read back equal.
    @Test(arguments: 0..<40)
    func anotherWritersTextIsReadAsItWas(seed: Int) throws {
        var dice = SplitMix64(seed: UInt64(seed) + 77)
        for _ in 0..<25 {
            let tree = tree(&dice, depth: 0)
            for options: JSONSerialization.WritingOptions in [[], [.prettyPrinted, .withoutEscapingSlashes]] {
                let data = try JSONSerialization.data(
                    withJSONObject: value(tree),
                    options: options.union(.fragmentsAllowed)
                )
                #expect(try parse(String(decoding: data, as: UTF8.self)) == tree, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[1 2]", "nul", "tru", "1 2", "1e999",
        "-", "+1", "--1", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud834\"", "\"\\ud834\\u0041\"", "\"\n\"", "]", "NaN",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        let error = #expect(throws: ReplayError.self) { try parse("\n" + text) }
        #expect(error?.description.hasPrefix("line ") == true && error?.description.hasSuffix("is expected") == true)
    }

    @Test func bytesThatAreNoUTF8AreRefused() {
        var parser = JSONParser([0x22, 0xC3, 0x28, 0x22])
        #expect(throws: ReplayError.self) { try parser.parse() }
    }

    @Test func errorsNameTheLine() {
        let error = #expect(throws: ReplayError.self) { try parse("{\n \"a\": 1,\n \"b\": x}") }
        #expect(error?.description == "line 3: a JSON value is expected")
    }

    /// Each value is listed with its path: a long name with many values would take its length for each.
    @Test func pathsAreBounded() throws {
        func text(name: Int, values: Int) -> String {
            "{\"b\":1,\n\"" + String(repeating: "a", count: name) + "\":[0"
                + String(repeating: ",0", count: values - 1) + "]}"
        }
        for (name, values) in [(65_000, 1), (999, 60), (99, 900)] {
            #expect(throws: Never.self) { try parse(text(name: name, values: values)) }
        }
        for (name, values) in [(999, 100), (990, 10_000), (65_536, 20)] {
            let error = #expect(throws: ReplayError.self) { try parse(text(name: name, values: values)) }
            let expected = "line 2: names of fields that are shorter, or have fewer values, is expected"
            #expect(error?.description == expected)
        }
    }

    @Test func levelsAreCounted() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(throws: Never.self) { try parse(nested(64)) }
        #expect(throws: ReplayError.self) { try parse(nested(65)) }
    }

    /// Repeats a piece up to a size. Such inputs are slow in a naive parser.
    private static let kinds: [(name: String, open: String, piece: String, close: String)] = [
        ("numbers", "[0", ",1.25e-3", "]"), ("digits", "[", "1", "]"), ("spaces", "[", " ", "]"),
        ("empty lists", "[0", ",[]", "]"), ("depth", "", "[", ""), ("one long text", "\"", "a", "\""),
        ("escapes", "\"", "\\u00e9\\n", "\""), ("texts", "[0", ",\"ab\"", "]"),
        ("one field", "{\"b\":0", ",\"a\":1", "}"),
        ("long names", "{\"", "name", "\":1}"), ("reports", "{\"rows\":[0", ",{\"a\":{\"b\":null}}", "]}"),
        ("half a text", "[\"", "\\\\", ""), ("commas", "[", ",", "]"),
    ]

    /// Bytes read grow linearly with the input, whether the text is accepted or refused.
    @Test(arguments: [1000, 10_000, 100_000])
    func costIsLinearInTheSize(size: Int) throws {
        for kind in Self.kinds {
            let text = kind.open + String(repeating: kind.piece, count: size / kind.piece.utf8.count) + kind.close
            var parser = JSONParser(Array(text.utf8))
            _ = try? parser.parse()
            #expect(parser.steps > 0 && parser.steps <= JSONParser.stepsPerByte * text.utf8.count, "\(kind.name)")
        }
    }

    /// Short texts: no long run of cheap bytes hides an expensive one.
    @Test func costOfEveryShortText() {
        var texts: [[UInt8]] = [[]]
        for _ in 0..<5 {
            texts = texts.flatMap { text in "[]{}\",:1 ".utf8.map { text + [$0] } }
            for text in texts {
                var parser = JSONParser(text)
                _ = try? parser.parse()
                if parser.steps > JSONParser.stepsPerByte * text.count {
                    Issue.record("\(parser.steps) steps for \(String(decoding: text, as: UTF8.self))")
                }
            }
        }
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        let path = NSTemporaryDirectory() + "baseline-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("\u{FEFF}{\"schema\": 2}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try JSONTree(reading: path) == .object(["schema": .number(2)]))
    }

    /// Both sides of each bound, and a file without an end.
    @Test func filesLargerThanTheBoundAreRefused() throws {
        let path = NSTemporaryDirectory() + "baseline-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ count: Int) throws {
            var data = Data("{}".utf8)
            data.append(Data(repeating: 0x20, count: count - 2))
            try data.write(to: URL(fileURLWithPath: path))
        }
        let bound = 3 << 20
        try write(bound)
        #expect(throws: Never.self) { try JSONTree(reading: path, maximumBytes: bound) }
        try write(bound + 1)
        let error = #expect(throws: ReplayError.self) { try JSONTree(reading: path, maximumBytes: bound) }
        #expect(error?.description == "\(path): a JSON report of at most 3 MiB is expected")
        let endless = #expect(throws: ReplayError.self) { try JSONTree(reading: "/dev/zero") }
        #expect(endless?.description == "/dev/zero: a JSON report of at most 32 MiB is expected")
        for path in [NSTemporaryDirectory(), path + ".none"] {
            #expect(throws: ReplayError.self) { try JSONTree(reading: path) }
        }
    }
}
