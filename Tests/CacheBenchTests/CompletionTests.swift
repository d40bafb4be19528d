import Foundation
import Testing

/// Completions and manual pages, as `Scripts/install --cachebench` writes them: every flag is in each.
@Suite(.enabled(if: Program.url != nil, "the program was not built beside the tests"))
struct CompletionTests {
    private struct Help: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var names: [Name]?
        }
        struct Command: Decodable {
            var commandName: String
            var arguments: [Argument]?
            var subcommands: [Command]?
        }
        var command: Command
    }

    /// Long flags by command, from the table that the help is made of.
    private static let flags = Result {
        let help = try JSONDecoder().decode(
            Help.self,
            from: Data(Program.run(["--experimental-dump-help"]).output.utf8)
        )
        let commands = (help.command.subcommands ?? []).filter { $0.commandName != "help" }
        return commands.map { command in
            let names = (command.arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }
            return (command: command.commandName, flags: names.map(\.name))
        }
    }

    private func script(_ shell: String) throws -> String {
        try Program.run(["--generate-completion-script", shell]).output
    }

    private func run(_ program: String, _ arguments: [String], in folder: URL) throws -> String {
        let process = Process()
        let output = folder.appendingPathComponent("output")
        try Data().write(to: output)
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return String(decoding: try Data(contentsOf: output), as: UTF8.self)
    }

    /// Asks bash's own functions, as a press of the tabulator does.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/bin/bash")))
    func bashOffersEveryFlag() throws {
        let folder = try Folder()
        try folder.write(script("bash"), to: "completions")
        try folder.write("", to: "traces/a.csv")
        let commands = try Self.flags.get()
        #expect(commands.count >= 11)
        var lines = commands.map { [$0.command, "--"] }
        lines += [["tu"], ["replay", "--prefetch", "sk"], ["replay", "tr"], ["import", "x", "--output", "tr"]]
        let asked = lines.map { words in
            """
            COMP_WORDS=(cachebench \(words.joined(separator: " "))); COMP_CWORD=\(words.count)
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
            _cachebench cachebench "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" && echo "${COMPREPLY[*]}"
            """
        }
        // `complete` says that the shell would ask this function.
        let text = "source ./completions\ncomplete -p cachebench\n" + asked.joined(separator: "\n") + "\n"
        try folder.write(text, to: "ask")
        let answers = try run("/bin/bash", ["--norc", "ask"], in: folder.url).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(answers.first?.contains("-F _cachebench cachebench") == true)
        try #require(answers.count > lines.count)
        for (command, answer) in zip(commands, answers.dropFirst()) {
            let offered = Set(answer.split(separator: " ").map(String.init))
            for flag in command.flags { #expect(offered.contains("--" + flag), "\(command.command) \(flag)") }
        }
        #expect(answers.dropFirst(lines.count - 3).prefix(4) == ["tune", "skewport", "traces", "traces"])
    }

    @Test(arguments: ["zsh", "fish"]) func otherShellsHaveEveryFlag(shell: String) throws {
        let text = try script(shell)
        for command in try Self.flags.get() {
            for flag in command.flags {
                #expect(text.contains(shell == "zsh" ? "--\(flag)" : " -l '\(flag)'"), "\(command.command) \(flag)")
            }
        }
        // Where the shell is installed, it reads them.
        let program = "/usr/bin/\(shell)"
        guard FileManager.default.fileExists(atPath: program) else { return }
        let folder = try Folder()
        try folder.write(text, to: "completions")
        #expect(try run(program, ["-c", "\(program) -n completions && echo whole"], in: folder.url) == "whole\n")
    }

    private static let manual = Program.url.map {
        $0.deletingLastPathComponent().appendingPathComponent("generate-manual")
    }

    @Test(
        .enabled(
            if: manual.map { FileManager.default.isExecutableFile(atPath: $0.path) } ?? false,
            "swift build --product generate-manual builds it beside the tests"
        )
    )
    func manualPagesHaveEveryFlag() throws {
        let folder = try Folder()
        let (tool, program) = (try #require(Self.manual).path, try #require(Program.url).path)
        _ = try run(tool, [program, "--multi-page", "--output-directory", "."], in: folder.url)
        for command in try Self.flags.get() {
            let page = folder.url.appendingPathComponent("cachebench.\(command.command).1")
            let text = try String(contentsOf: page, encoding: .utf8)
            for flag in command.flags {
                let isThere = text.contains("\n.It Fl -\(flag)") || text.contains(", -\(flag)")
                #expect(isThere, "\(command.command) \(flag)")
            }
            // A renderer of such pages takes it.
            guard FileManager.default.fileExists(atPath: "/usr/bin/groff") else { continue }
            let shown = try run("/usr/bin/groff", ["-mandoc", "-Tascii", "-P-cbou", page.path], in: folder.url)
            #expect(shown.contains("NAME") && shown.contains("cachebench \(command.command)"), "\(shown.prefix(200))")
        }
    }
}
