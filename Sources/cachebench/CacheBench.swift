import ArgumentParser
import CacheBenchKit

/// The program: replays pan traces through the cache and says what was hit, what was late and what it cost.
@main
struct CacheBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cachebench",
        abstract: "Replays pan traces through TileCache: hit rates, memory and waste, to choose limits by.",
        discussion: """
            Without a command it replays: `cachebench --memory-limit 32MiB` is `cachebench replay --memory-limit 32MiB`.

            Exit codes: 0 done, 1 a check failed, 2 input that cannot be used, 64 bad usage.
            """,
        version: BenchVersion.program,
        subcommands: [
            ReplayCommand.self, CompareCommand.self, TuneCommand.self, ZoomoutCommand.self, GenerateCommand.self,
            ThroughputCommand.self, StressCommand.self,
        ],
        defaultSubcommand: ReplayCommand.self
    )
}
