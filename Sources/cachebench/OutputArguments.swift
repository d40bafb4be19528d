import ArgumentParser

/// Destination and format of figures, the same for every command.
struct OutputArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table
        case json
    }

    @Option(help: "Format of the report: a table, or JSON.")
    var format = Format.table

    @Option(help: ArgumentHelp("Write to a file instead of standard output, all of it or nothing.", valueName: "file"))
    var output: String?
}
