import ArgumentParser

/// Destination and format of figures.
struct OutputArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json
    }

    @Option(
        name: .customLong("format"),
        help: "Format of the report: a table, or JSON. (default: json if --output ends in .json, otherwise table)"
    )
    var named: Format?

    @OptionGroup var file: FileArguments

    var format: Format { named ?? Format(ofFile: file.output) ?? .table }
}

/// Destination and format of figures, for commands with pages.
struct PageArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, html
    }

    @Option(
        name: .customLong("format"),
        help: """
            Format of the report: a table, JSON, or an HTML page with pictures. (default: as the name of --output ends, \
            in .json or .html, otherwise table)
            """
    )
    var named: Format?

    @OptionGroup var file: FileArguments

    var format: Format { named ?? Format(ofFile: file.output) ?? .table }
}

extension RawRepresentable<String> {
    /// The format that the name of a file ends with; `nil` if there is none.
    fileprivate init?(ofFile path: String?) {
        guard let path, let dot = path.lastIndex(of: ".") else { return nil }
        self.init(rawValue: path[path.index(after: dot)...].lowercased())
    }
}

/// Destination of a command's output.
struct FileArguments: ParsableArguments {
    @Option("Write to a file instead of standard output, all of it or nothing.", .text, as: "file")
    var output: String?
}
