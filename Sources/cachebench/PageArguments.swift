import ArgumentParser

/// Destination and format of figures, for commands with pages.
struct PageArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table
        case json
        case html
    }

    @Option(help: "Format of the report: a table, JSON, or an HTML page with pictures.")
    var format = Format.table

    @Option(help: ArgumentHelp("Write to a file instead of standard output, all of it or nothing.", valueName: "file"))
    var output: String?
}
