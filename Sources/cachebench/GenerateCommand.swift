import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// `cachebench generate`: writes a generated pan trace.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Write a pan trace by driving a scroll view with seeded gestures.",
        discussion: """
            The designs: infinite (tiles under an endless zoom), plane (four tiles), zoom (double taps and pinches), \
            photo (a viewer), pages (a row of as many views as the world holds). The sessions: map and slide (a mouse and its wheel), photo-session (a touch \
            screen); their strokes, pauses, reversals, speeds and zooms are distributed as recorded ones were.

            The same flags give the same trace on every machine. A trace is written as it is made, so that a day takes \
            no more memory than a second.

            Examples:
              cachebench generate --preset map --duration 10min --output map.csv
              cachebench generate --preset plane --seed 7 | cachebench replay -
            """
    )

    @Option(help: "Design or session.")
    var preset: GesturePreset

    @Option(
        "Duration, 1s to 8760h: 90s, 10min, 24h.",
        OptionValue("a time with its unit from 1s to 8760h (90s, 10min)") { text in
            QuantityText.duration(text).flatMap { TraceGenerator.durations.contains($0) ? $0 : nil }
        },
        default: "1min"
    )
    var duration: Int64?

    @Option("Seed of the gestures.", .seed, default: "1")
    var seed: UInt64?

    @Option("The view in screen pixels.", .viewport, default: "the preset's", as: "WxH")
    var viewport: PanTraceHeader.Size?

    @Option("The world in world pixels.", .world, default: "the preset's", as: "WxH")
    var world: PanTraceHeader.Size?

    @Option(
        "Samples a second while something moves, 0.001 to 1000.",
        OptionValue("a number from 0.001 to 1000") { Double($0).flatMap { PanFrameRate(framesPerSecond: $0) } },
        default: "60"
    )
    var rate: PanFrameRate?

    @OptionGroup var file: FileArguments

    func run() throws {
        try Failure.reported {
            var options = TraceGenerator.Options(preset: preset)
            if let duration { options.duration = duration }
            if let seed { options.seed = seed }
            if let rate { options.rate = rate }
            options.viewport = viewport
            options.world = world
            let writer = try ReportWriter(path: file.output)
            var text = try TraceText(options)
            // The text so far ends with a whole line: a shorter trace, but valid.
            Interruption.watch()
            let progress = Progress()
            defer { progress.end() }
            try writer.write(pieces: {
                progress.reached(Double(text.lastTime ?? 0) / Double(options.duration), "generating")
                return Interruption.hasCome && text.lastTime != nil ? nil : text.next()
            })
            progress.end()
            if Interruption.hasCome, let last = text.lastTime {
                throw Interruption.end("the trace ends after \(last / 1_000_000_000) s")
            }
        }
    }
}

extension GesturePreset: ExpressibleByArgument {}
