import Foundation
import Testing

@testable import CacheBenchKit

@Suite struct ReadmeReportTests {
    /// The README's output of the demo is the actual one.
    @Test func printsWhatTheReadmeShows() throws {
        let options = ReplayOptions()
        let result = try Replay(options).run([{ try ReplayInput(builtIn: options) }])
        #expect(try text("README.md").contains("\n```\n" + ReplayText.text(result) + "```\n"))
    }

    /// Pictures that were taken out of a report page have the rules of their classes: without one, a shape is black.
    @Test(arguments: ["blank", "curve", "demands", "memory"]) func noShapeIsBlack(name: String) throws {
        let picture = try text("Docs/Pictures/\(name).svg")
        let shapes = picture.matches(of: /<(?:rect|path|circle) [^>]*class="([^"]*)"/)
        #expect(!shapes.isEmpty)
        for shape in shapes {
            let hasRule = shape.1.split(separator: " ").contains { picture.contains(".\($0){") }
            #expect(hasRule, "\(shape.1)")
        }
    }

    private func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
