import ArgumentParser

/// Destination and format of figures, the same for every command.
struct OutputArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table
        case json
    }

    @Option(help: "A table for people, or JSON for programs.")
    var format = Format.table

    @Option(help: ArgumentHelp("Write to a file, whole or not at all, instead of standard output.", valueName: "file"))
    var output: String?
}
