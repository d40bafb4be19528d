import CInterfaceChecks
import Foundation
import Testing
import TileCacheC

/// Runs the checks written in C. Also compares the header, the functions and the checks.
@Suite struct CInterfaceTests {
    @Test(arguments: 0..<c_check_count()) func holds(check index: Int32) {
        let entry = c_check_at(index)
        let failure = entry.run().map { String(cString: $0) }
        #expect(failure == nil, "\(String(cString: entry.name))")
    }

    private static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized

    /// All files of some folders as one text.
    private static func text(in folders: String..., ending: String) throws -> String {
        try folders.flatMap { folder in
            let url = root.appendingPathComponent(folder)
            return try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasSuffix(ending) }
                .sorted()
                .map { try String(contentsOf: url.appendingPathComponent($0), encoding: .utf8) }
        }
        .joined(separator: "\n")
    }

    /// Both installed headers.
    private static func headers() throws -> String {
        try text(in: "Sources/CTileCache/include", ending: "tilecache.h")
            + text(in: "Sources/CTileSources/include", ending: ".h")
    }

    /// Functions of the headers, without comments.
    private static func declaredFunctions() throws -> Set<String> {
        let header = try headers()
            .replacing(#/(?s)/\*.*?\*//#, with: "")
        return Set(header.matches(of: #/\b(tilecache_[a-z_]+)\(/#).map { String($0.1) })
    }

    @Test func theHeaderDeclaresWhatIsExported() throws {
        let declared = try Self.declaredFunctions()
        let swift = try Self.text(in: "Sources/TileCacheC", "Sources/TileSourcesC", ending: ".swift")
        let c = try Self.text(in: "Sources/CTileCache", ending: ".c")
        let exported = Set(swift.matches(of: #/@c\((tilecache_[a-z_]+)\)/#).map { String($0.1) })
            .union(c.matches(of: #/\b(tilecache_[a-z_]+)\([^;]*?\) \{/#).map { String($0.1) })
        #expect(declared.subtracting(exported) == [])
        #expect(exported.subtracting(declared) == [])
        #expect(declared.count >= 60)
    }

    /// Every function is declared with TILECACHE_API, which exports it in spite of hidden visibility.
    @Test func everyFunctionIsExportedByItsDeclaration() throws {
        let exported = try Self.headers().matches(of: #/(?m)^TILECACHE_API .*?\b(tilecache_[a-z_]+)\(/#)
        #expect(Set(exported.map { String($0.1) }) == (try Self.declaredFunctions()))
    }

    @Test func everyFunctionIsChecked() throws {
        let checks = try Self.text(in: "Tests/CInterfaceChecks", ending: ".c")
        let unchecked = try Self.declaredFunctions().filter { !checks.contains("\($0)(") }
        #expect(unchecked == [])
    }

    @Test func everyDeclarationHasADocumentationComment() throws {
        let lines = try Self.headers().split(separator: "\n")
        let start = #/^(TILECACHE_API |typedef struct \w+ \{)/#
        for (index, line) in lines.enumerated() where line.contains(start) {
            #expect(lines[index - 1].hasSuffix("*/"), "\(line)")
        }
    }
}
