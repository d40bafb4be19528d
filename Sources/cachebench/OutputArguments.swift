import ArgumentParser

/// Destination and format of figures.
struct OutputArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json
    }

    @Option(help: "Format of the report: a table, or JSON.")
    var format = Format.table

    @OptionGroup var file: FileArguments
}

/// Destination and format of figures, for commands with pages.
struct PageArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, html
    }

    @Option(help: "Format of the report: a table, JSON, or an HTML page with pictures.")
    var format = Format.table

    @OptionGroup var file: FileArguments
}

/// Destination of a command's output.
struct FileArguments: ParsableArguments {
    @Option("Write to a file instead of standard output, all of it or nothing.", .text, as: "file")
    var output: String?
}
