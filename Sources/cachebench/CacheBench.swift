import ArgumentParser
import CacheBenchKit
import Foundation

/// The program. Replays pan traces through the cache and reports hits, late tiles, memory and waste.
@main
struct CacheBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachebench",
        abstract: "Replay pan traces through TileCache: hit rates, memory and waste, to choose limits.",
        discussion: """
            Without a command it replays: `cachebench --memory-limit 32MiB` is `cachebench replay --memory-limit 32MiB`.

            Exit codes: 0 done, 1 a check failed, 2 a file, server or trace that cannot be used, 64 bad usage, \
            130 ended by Ctrl-C.
            """,
        version: BenchVersion.program,
        subcommands: [
            ReplayCommand.self, CompareCommand.self, TuneCommand.self, LearnCommand.self, ZoomoutCommand.self,
            GenerateCommand.self, ImportCommand.self, ThroughputCommand.self, StressCommand.self, WarmCommand.self,
            FarmCommand.self,
        ],
        defaultSubcommand: ReplayCommand.self
    )

    static func main() {
        // The parser prints help and completions: on a full disk they are not there.
        atexit {
            guard fflush(nil) != 0, errno != EPIPE else { return }
            writeToStandardError("cachebench: standard output: \(String(cString: strerror(errno)))\n")
            _exit(2)
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let mistake = mistypedCommand(arguments) { exit(withError: ValidationError(mistake)) }
        main(joiningNegativeNumbers(arguments))
    }

    /// Suggests the command that a first word, or the one after `help`, resembles. A first word may name a file.
    private static func mistypedCommand(_ arguments: [String]) -> String? {
        let isHelp = arguments.first == "help"
        guard let word = isHelp ? arguments.dropFirst().first : arguments.first, !word.hasPrefix("-"),
            isHelp || !FileManager.default.fileExists(atPath: word)
        else { return nil }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard !names.contains(word) else { return nil }
        guard let name = Spelling.nearest(to: word, in: names) else {
            return isHelp ? "there is no command '\(word)'" : nil
        }
        return "there is no command\(isHelp ? "" : " or file") '\(word)'; did you mean '\(name)'?"
    }

    /// Joins a flag and a value such as `-5x3` by `=`. The parser would read the value as flags.
    private static func joiningNegativeNumbers(_ arguments: [String]) -> [String] {
        var joined: [String] = []
        for argument in arguments {
            let isNegative = argument.hasPrefix("-") && argument.dropFirst().first?.isNumber == true
            if isNegative, let flag = joined.last, flag.hasPrefix("--"), !flag.contains("="), flag != "--" {
                joined[joined.count - 1] = "\(flag)=\(argument)"
            } else {
                joined.append(argument)
            }
        }
        return joined
    }
}
