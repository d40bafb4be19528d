import Foundation
import Testing

@testable import CacheBenchKit

@Suite struct ReadmeReportTests {
    /// The README's output of the demo is the actual one.
    @Test func printsWhatTheReadmeShows() throws {
        let options = ReplayOptions()
        let result = try Replay(options).run([{ try ReplayInput(builtIn: options) }])
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains("\n```\n" + ReplayText.text(result) + "```\n"))
    }
}
