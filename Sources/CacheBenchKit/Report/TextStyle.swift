/// Style of text for a terminal; plain text has the same content.
package enum TextStyle: Sendable, Hashable {
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

extension Sequence where Element: Hashable {
    /// Each element once, in the order of its first occurrence.
    var unique: [Element] { grouped(by: \.self).map(\.key) }
}

extension Sequence {
    /// Groups the elements by a key, in the order of each key's first element.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var places: [Key: Int] = [:]
        var groups: [(key: Key, elements: [Element])] = []
        for element in self {
            let key = key(element)
            let place = places[key] ?? groups.count
            if place == groups.count {
                places[key] = place
                groups.append((key, []))
            }
            groups[place].elements.append(element)
        }
        return groups
    }
}

extension [String: Int] {
    /// The counts by size; equal ones by name.
    var largestFirst: [(key: String, value: Int)] { sorted { ($1.value, $0.key) < ($0.value, $1.key) } }
}

extension String {
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(width - count, 0)) }

    package func aligned(to width: Int) -> String { String(repeating: " ", count: Swift.max(width - count, 0)) + self }

    /// Shortened in the middle if it is too long. Both ends of a file's name distinguish it from others.
    func shortened(to width: Int) -> String {
        guard count > width else { return self }
        guard width > 3 else { return String(prefix(Swift.max(width, 0))) }
        let kept = width - 1
        return prefix(kept / 2) + "…" + suffix(kept - kept / 2)
    }

    /// Safe for a terminal: names of files may contain escape sequences.
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

/// Aligns cells in columns: the first columns left, the others right.
func columns(_ rows: [[String]], leading: Int = 1, gap: String = " ") -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { cells in
        zip(cells, widths).enumerated().map { column, cell in
            column < leading ? cell.0.padded(to: cell.1) : cell.0.aligned(to: cell.1)
        }.joined(separator: gap)
    }
}

/// Wraps a text to the terminal's width, later lines indented.
func wrapped(_ text: String) -> [String] {
    wrapped(text.split(separator: " ").map(String.init), width: ReplayText.width, indent: 2)
}

/// Wraps words to a width, later lines indented.
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
