/// How text for a terminal is set off; plain text says the same without it.
package enum TextStyle: Sendable, Hashable {
    /// Nothing but the text.
    case plain
    /// Bold, dim and coloured by ANSI escape sequences.
    case ansi

    func bold(_ text: String) -> String { wrapped(text, "1") }
    func dim(_ text: String) -> String { wrapped(text, "2") }
    func warning(_ text: String) -> String { wrapped(text, "33") }
    func alarm(_ text: String) -> String { wrapped(text, "1;31") }

    private func wrapped(_ text: String, _ code: String) -> String {
        self == .plain || text.isEmpty ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

extension String {
    /// Filled up with spaces on the right.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(width - count, 0)) }

    /// Filled up with spaces on the left.
    func aligned(to width: Int) -> String { String(repeating: " ", count: Swift.max(width - count, 0)) + self }

    /// Cut in the middle where it is too long: the beginning and the end of a file's name both tell it from others.
    func shortened(to width: Int) -> String {
        guard count > width else { return self }
        guard width > 3 else { return String(prefix(Swift.max(width, 0))) }
        let kept = width - 1
        return prefix(kept / 2) + "…" + suffix(kept - kept / 2)
    }

    /// Fit for a terminal: names of files may hold anything, escape sequences too.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                        "?"
                    default: scalar
                    }
                }
            )
        )
    }
}

/// Words in lines of a width, later lines indented.
func wrapped(_ words: [String], width: Int, indent: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words {
        if line.isEmpty {
            line = word
        } else if line.count + 1 + word.count <= width {
            line += " " + word
        } else {
            lines.append(line)
            line = String(repeating: " ", count: indent) + word
        }
    }
    return line.isEmpty ? lines : lines + [line]
}
