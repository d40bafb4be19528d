import Foundation
import Testing

/// `cachebench import`: a log to traces, and those to a report.
@Suite(.enabled(if: Program.url != nil, "the program was not built beside the tests"))
struct ImportTests {
    private func log() -> String {
        var text = "no line of a log\n"
        for second in 0..<8 {
            for x in 0..<5 {
                for y in 0..<4 {
                    text += "10.0.0.1 - - [29/Nov/2026:12:00:0\(second) +0000] "
                    text += "\"GET /map/6/\(20 + second + x)/\(20 + y).png HTTP/1.1\" 200 9 \"-\" \"Firefox\"\n"
                }
            }
        }
        return text
    }

    @Test func aLogBecomesTracesThatCanBeReplayed() throws {
        let folder = try Folder()
        try folder.write(log(), to: "access.log")
        try folder.write("a,b\n", to: "other.csv")
        let words = ["import", "access.log", "other.csv", "none.log", "--output", "traces"]
        let outcome = try Program.run(words, in: folder.url)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("161 lines, entries or points read, 160 of them used"), "\(outcome.output)")
        #expect(outcome.output.contains("1 session with") && outcome.output.contains("of another format"))
        // Files that cannot be imported are named; the others are read.
        #expect(outcome.errors.contains("other.csv: is none of") && outcome.errors.contains("none.log: expected"))
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.url.appendingPathComponent("traces").path
        )
        #expect(names == ["access-0001.csv"])
        let replay = try Program.run(["replay", "--memory-limit", "16MiB", "traces/"], in: folder.url)
        #expect(replay.code == 0 && replay.output.contains("\ntraces/access-0001.csv"), "\(replay.errors)")
        let first = "imported (requests of tiles, see # guessed in the header)"
        #expect(replay.output.contains("\n" + first), "\(replay.output)")
        let json = try Program.run(["replay", "traces/", "--duration", "1s", "--format", "json"], in: folder.url)
        #expect(json.output.contains(#""imported" : "requests of tiles""#), "\(json.output)")
        // Traces of two imports are not mixed.
        let again = try Program.run(words, in: folder.url)
        #expect(again.code == 2 && again.errors.contains("access-0001.csv is in it"), "\(again.errors)")
    }

    /// A name of a file or folder with any characters: a printed command may be copied if they can be printed, and no trace is hidden.
    @Test func namesMayHaveAnyCharacters() throws {
        let folder = try Folder()
        try folder.write(log(), to: ".access.log")
        let outcome = try Program.run(["import", ".access.log", "a\u{1B}b", "--output", "my traces"], in: folder.url)
        #expect(outcome.code == 0 && outcome.output.contains("next: cachebench tune 'my traces'"), "\(outcome.output)")
        #expect(!outcome.errors.contains("\u{1B}") && outcome.errors.contains("a?b"), "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.url.appendingPathComponent("my traces").path
        )
        #expect(names == ["access-0001.csv"])
    }

    @Test func whatHasNoSessionIsAnError() throws {
        let folder = try Folder()
        try folder.write("nothing\n", to: "access.log")
        let outcome = try Program.run(["import", "access.log", "--output", "traces"], in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.contains("no session"), "\(outcome.errors)")
        #expect(outcome.output.contains("1  lines or entries"), "\(outcome.output)")
    }

    /// A line for each file that cannot be read, and nothing else.
    @Test func missingFilesAreNamedOnce() throws {
        let folder = try Folder()
        let outcome = try Program.run(["import", "none.log", "--output", "traces/new"], in: folder.url)
        #expect(outcome.code == 2 && outcome.output.isEmpty, "\(outcome.output)")
        // Nothing is left of the folders for traces; one that was there stays.
        func isThere(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.url.appendingPathComponent(name).path)
        }
        #expect(!isThere("traces"))
        let own = folder.url.appendingPathComponent("own")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false)
        #expect(try Program.run(["import", "none.log", "--output", "own/new"], in: folder.url).code == 2)
        #expect(isThere("own") && !isThere("own/new"))
        #expect(
            outcome.errors
                == "cachebench: none.log: expected a file that can be read, found No such file or directory\n"
        )
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/bin/bash"))) func logsComeFromPipesToo() throws {
        let folder = try Folder()
        try folder.write(log(), to: "access.log")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = folder.url
        let program = try #require(Program.url).path
        process.arguments = ["-c", "cat access.log | '\(program)' import - --output traces >summary"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(
            FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("traces/import-0001.csv").path)
        )
    }
}
