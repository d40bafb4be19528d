import ArgumentParser

/// Destination and format of figures, the same for every command.
struct OutputArguments: ParsableArguments {
    /// Formats of a report.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        /// For reading.
        case table
        /// For programs.
        case json
    }

    @Option(help: "A table for people, or JSON for programs.")
    var format = Format.table

    @Option(help: ArgumentHelp("Write to a file, whole or not at all, instead of standard output.", valueName: "file"))
    var output: String?
}
