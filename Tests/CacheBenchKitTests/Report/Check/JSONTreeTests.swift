import Foundation
import TestSupport
import Testing
import TileCache

@testable import CacheBenchKit

/// Reading of reports: values, bounds and refusals.
@Suite struct JSONTreeTests {
    private func parse(_ text: String) throws -> JSONTree {
        try JSONTree(parsing: Data(text.utf8))
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

    /// Each value is listed with its path: a long name with many values would take its length for each.
    @Test func pathsAreBounded() throws {
        let path = NSTemporaryDirectory() + "paths-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func read(name: Int, values: Int) throws {
            let list = Array(repeating: "0", count: values).joined(separator: ",")
            let name = String(repeating: "a", count: name)
            try Data("{\"b\":1,\n\"\(name)\":[\(list)]}".utf8).write(to: URL(fileURLWithPath: path))
            _ = try JSONTree(reading: path)
        }
        for (name, values) in [(65_000, 1), (999, 60), (99, 900)] {
            #expect(throws: Never.self) { try read(name: name, values: values) }
        }
        for (name, values) in [(999, 100), (990, 10_000), (65_536, 20)] {
            #expect(throws: ReplayError.self) { try read(name: name, values: values) }
        }
    }

    @Test(arguments: ["", "[1", "{\"a\":x}", "{\"a\":1e999}", "1 2", "3", "[]", "\"\u{1}\""])
    func whatIsNoReportIsRefused(text: String) throws {
        let path = NSTemporaryDirectory() + "text-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: ReplayError.self) { try JSONTree(reading: path) }
        #expect(error?.description.hasPrefix("\(path): a report as --format json writes it is expected") == true)
    }

    /// The path of a value is as long as it is deep.
    @Test(arguments: [(16, true), (17, false), (100, false)])
    func theDepthIsBounded(depth: Int, isRead: Bool) throws {
        let lists = (String(repeating: "[", count: depth - 1), String(repeating: "]", count: depth - 1))
        let text = Data("{\"a\":\(lists.0)0\(lists.1)}".utf8)
        #expect(((try? JSONTree(parsing: text)) != nil) == isRead)
    }

    /// Editors put a byte order mark first.
    @Test func aByteOrderMarkIsNoText() throws {
        let path = NSTemporaryDirectory() + "mark-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("\u{FEFF}{\"a\":1}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try JSONTree(reading: path) == .object(["a": .number(1)]))
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
