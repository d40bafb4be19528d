import Foundation
import PanTraces
import Testing

@testable import CacheBenchKit

/// Notes about the traces, which texts and pages of all commands have.
@Suite struct TraceNotesTests {
    private static let imported = "(requests of tiles, see # guessed in the header): figures are estimates"

    /// Positions two seconds apart, as a log leaves them.
    private static func trace(isImported: Bool) -> String {
        var header = PanTraceHeader(
            viewport: .init(width: 800, height: 600),
            world: .init(width: 65_536, height: 65_536)
        )
        if isImported { header.otherEntries = [.init(key: "imported", value: "requests of tiles")] }
        return PanTraceFormat.headerText(header, includesRotation: false)
            + (0..<6).map { "\($0 * 2),\(30_000 + $0 * 200),30000,1\n" }.joined()
    }

    private func withTraces(_ body: ([String]) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [true, false].map { isImported in
            let file = folder.appendingPathComponent("\(isImported ? "imported" : "recorded").csv")
            try? Data(Self.trace(isImported: isImported).utf8).write(to: file)
            return file.path
        }
        try body(files)
    }

    /// Each text and each page has both notes, and neither of a trace that was recorded densely.
    @Test func everyReportHasThem() throws {
        try withTraces { paths in
            let options = ReplayOptions()
            let inputs = paths.map { path in { @Sendable () throws in try ReplayInput(path: path, options: options) } }
            let replay = try Replay(options).run(inputs, hooks: ReplayHooks(keepsSeries: true))
            var tuning = TuneOptions(replay: options)
            tuning.policies = []
            let tune = try Tune(tuning, inputs: inputs).run()
            let compare = try Compare(options: options, policies: [.none], budgets: [.screens(4)]).run(paths: paths)
            let reports = [
                ReplayText.text(replay), TuneText.text(tune), CompareText.text(compare),
                try ReplayPage.text(replay), try TunePage.text(tune), try ComparePage.text(compare),
            ]
            for report in reports {
                let words = report.replacing("\n  ", with: " ").replacing("\n", with: " ")
                #expect(words.contains("1 of 2 traces are imported \(Self.imported)"), "\(report.prefix(600))")
                #expect(words.contains("2 of 2 traces are sparse, most of all "), "\(report.prefix(600))")
            }
            #expect(compare.rows.compactMap(\.imported) == ["requests of tiles"])
            #expect(compare.totals.allSatisfy { $0.imported == nil })
        }
    }

    /// The command to paste replays the traces of the search, not the built-in session.
    @Test func aSearchEndsWithACommandForItsTraces() throws {
        try withTraces { paths in
            let options = ReplayOptions()
            func end(_ count: Int) throws -> String {
                let inputs = (0..<count).map { index in
                    { @Sendable () throws in try ReplayInput(path: paths[index % 2], options: options) }
                }
                var tuning = TuneOptions(replay: options)
                (tuning.policies, tuning.budgets) = ([], [.screens(4)])
                let text = try TuneText.text(Tune(tuning, inputs: inputs).run())
                return text.split(separator: "\n").last.map(String.init) ?? ""
            }
            try #expect(end(1).hasSuffix("MiB \(paths[0])"))
            try #expect(end(3).hasSuffix("MiB \(paths[0]) \(paths[1])"))
            try #expect(end(4).hasSuffix("MiB " + paths[0].replacing("imported.csv", with: "")))
        }
    }

    @Test func recordedTracesHaveNone() throws {
        let trace = ReplayReport.Trace(name: "a", source: ".", hash: "", frames: 9, seconds: 9)
        #expect(TraceNotes.lines([trace]).isEmpty)
        var imported = trace
        imported.imported = "GPX track"
        #expect(
            TraceNotes.lines([imported])
                == ["imported (GPX track, see # guessed in the header): figures are estimates"]
        )
    }
}
