import ArgumentParser

/// Destination and format of figures, for commands with pages.
struct PageArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table
        case json
        case html
    }

    @Option(help: "A table for people, JSON for programs, or one page with pictures for a browser.")
    var format = Format.table

    @Option(help: ArgumentHelp("Write to a file, whole or not at all, instead of standard output.", valueName: "file"))
    var output: String?
}
