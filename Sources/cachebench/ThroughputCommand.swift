import ArgumentParser
import CacheBenchKit

/// `cachebench throughput`: measures the speed of the parts on this machine.
struct ThroughputCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "throughput",
        abstract: "Measure codec, pool, look-ups and frames against LZ4, memory copies and NSCache, in one run.",
        discussion: """
            Figures are medians of rounds in which both sides alternate. Speeds are 10^6 bytes of pixels a second on \
            one thread. A busy machine slows both sides; ratios stay.
            """
    )

    @Option(
        "Directory of tiles: class_number.rgba or .f32, 256 x 256 pixels.",
        .text,
        default: "tiles of the built-in world",
        as: "dir"
    )
    var tiles: String?

    @Option(help: "Rounds for the medians, 1 to 1000. (default: \(usualRounds))")
    var rounds: Int?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Instead, measure calls with these numbers of tiles in memory, 1000 to 2000000; 1000000 take 5 GB.",
            valueName: "tiles"
        )
    )
    var held: [Int] = []

    @OptionGroup var output: OutputArguments

    func validate() throws {
        for count in held where !(1000...2_000_000).contains(count) {
            throw ValidationError("--held takes 1000 to 2000000 tiles, not \(count)")
        }
        if let rounds, !(1...1000).contains(rounds) {
            throw ValidationError("--rounds takes 1 to 1000, not \(rounds)")
        }
        if !held.isEmpty, tiles != nil || rounds != nil {
            let flag = tiles != nil ? "--tiles" : "--rounds"
            throw ValidationError("--held measures calls once, with tiles of its own: it cannot go with \(flag)")
        }
    }

    func run() throws {
        try Failure.reported {
            let writer = try ReportWriter(path: output.file.output)
            let progress = Progress()
            guard held.isEmpty else {
                defer { progress.end() }
                let rows = try held.map { count in
                    progress.show("measuring: calls with \(count) tiles held")
                    return try HeldTilesBenchmark.run(tiles: count)
                }
                progress.end()
                return try writer.write(rows, as: output.format, table: HeldTilesBenchmark.text(rows))
            }
            Interruption.watch()
            defer { progress.end() }
            let report = try Throughput(directory: tiles, rounds: rounds ?? usualRounds).run(
                shouldStop: { Interruption.hasCome },
                progress: { progress.show("measuring: \($0), \($1) of \($2) parts") }
            )
            progress.end()
            try writer.write(report, as: output.format, table: report.text)
            if report.interrupted { throw Interruption.end("this is what was measured so far") }
        }
    }
}

private let usualRounds = 15
