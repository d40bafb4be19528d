import Foundation
import Testing

/// What a user types is taken as meant, or answered by a suggestion.
@Suite(.enabled(if: Program.url != nil, "the program was not built beside the tests"))
struct WordingTests {
    @Test func sharesAreTakenInPerCent() throws {
        let folder = try Folder()
        try folder.write(Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output, to: "one.csv")
        let words = ["tune", "--target-hit-rate", "0%", "--compressed-shares", "25%", "--policies", "none", "one.csv"]
        let outcome = try Program.run(words + ["--format", "json"], in: folder.url)
        #expect(outcome.output.contains("\"compressedShare\" : 0.25"), "\(outcome.errors)")
        for value in ["101%", "-1%", "%", "1.5"] {
            let wrong = try Program.run(["tune", "--target-hit-rate=\(value)"])
            #expect(wrong.code == 64 && wrong.errors.contains("from 0% to 100%"), "\(wrong.errors)")
        }
    }

    /// The name of the file says what is written, unless the format is named.
    @Test(arguments: [
        ("report.html", [], "<!DOCTYPE html>"), ("report.JSON", [], "{\n"), ("report.txt", [], "built-in  "),
        ("report.html", ["--format", "json"], "{\n"), ("report", [], "built-in  "),
    ])
    func theFormatFollowsTheFile(name: String, words: [String], start: String) throws {
        let folder = try Folder()
        let outcome = try Program.run(["replay", "--duration", "3s", "--output", name] + words, in: folder.url)
        let text = try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
        #expect(
            outcome.code == 0 && text.lowercased().hasPrefix(start.lowercased()),
            "\(outcome.errors) \(text.prefix(80))"
        )
    }

    @Test func helpSuggestsACommand() throws {
        let near = try Program.run(["help", "tuen"])
        #expect(near.code == 64 && near.errors.contains("there is no command 'tuen'; did you mean 'tune'?"))
        let far = try Program.run(["help", "something"])
        #expect(far.code == 64 && far.errors.contains("there is no command 'something'"))
        #expect(try Program.run(["help", "tune"]).code == 0 && Program.run(["help"]).code == 0)
    }

    @Test func otherTablesInAFolderAreLeftOutWithAWord() throws {
        let folder = try Folder()
        try folder.write(Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output, to: "all/one.csv")
        try folder.write("name,age\nBob,3\n", to: "all/people.csv")
        let outcome = try Program.run(["replay", "all"], in: folder.url)
        let word = "cachebench: all/people.csv: left out, it does not begin as a pan trace\n"
        #expect(outcome.code == 0 && outcome.errors.contains(word), "\(outcome.errors)")
    }
}
