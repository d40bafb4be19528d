import Foundation
import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

@Suite struct ReadmeReportTests {
    /// The README's output of the demo is the actual one.
    @Test func printsWhatTheReadmeShows() throws {
        let options = ReplayOptions()
        let result = try Replay(options).run([{ try ReplayInput(builtIn: options) }])
        #expect(try text("README.md").contains("\n```\n" + ReplayText.text(result) + "```\n"))
    }

    /// The page about tuning shows the answer of its first command, and its pictures are those of that session.
    @Test func tunesAsItsPageShows() throws {
        let target = TuneOptions(replay: ReplayOptions(), target: .hitRate(0.9))
        let tuned = try Tune(target, inputs: [{ try ReplayInput(builtIn: ReplayOptions()) }]).run()
        let shown = "$ cachebench tune --target-hit-rate 0.9\n" + TuneText.text(tuned) + "```\n"
        #expect(try text("Docs/Tuning.md").contains(shown))
        #expect(try TunePage.text(tuned).contains(drawing("curve")))
        var options = ReplayOptions()
        options.memoryLimit = .bytes(43 << 20)
        let input = try ReplayInput(builtIn: options)
        let page = try ReplayPage.text(Replay(options).run(input, hooks: ReplayHooks(keepsSeries: true)))
        for name in ["demands", "memory"] { #expect(try page.contains(drawing(name)), "\(name)") }
    }

    /// The README's first picture is that of its session.
    @Test func drawsTheFirstPicture() throws {
        var session = TraceGenerator.Options(preset: .map)
        (session.duration, session.seed) = (24_000_000_000, 5)
        session.viewport = .init(width: 1280, height: 720)
        let trace = try TraceText(session)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("map-\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(sequence(state: trace) { $0.next() }.joined().utf8).write(to: file)
        let picture = try BlankPicture(
            path: file.path,
            policies: [.none, .skewport, .tilecache],
            budget: .bytes(64 << 20),
            options: ReplayOptions()
        )
        #expect(try text("Docs/Pictures/blank.svg") == picture.text)
    }

    /// What a picture draws, without its style and its end: a page has texts for the pointer there.
    private func drawing(_ name: String) throws -> String {
        let picture = try text("Docs/Pictures/\(name).svg")
        let start = try #require(picture.range(of: "</style>")).upperBound
        return String(picture[start...].replacing("</svg>\n", with: ""))
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
