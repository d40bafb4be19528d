import ArgumentParser

/// Where figures go, and in which form, for commands whose figures are worth looking at.
struct PageArguments: ParsableArguments {
    /// The forms of a report.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        /// For people.
        case table
        /// For programs.
        case json
        /// For people who look: one page with pictures, for any browser.
        case html
    }

    @Option(help: "A table for people, JSON for programs, or one page with pictures for a browser.")
    var format = Format.table

    @Option(help: ArgumentHelp("Write to a file, whole or not at all, instead of standard output.", valueName: "file"))
    var output: String?
}
