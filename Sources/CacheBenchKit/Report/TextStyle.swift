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
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(width - cellCount, 0))
    }

    package func aligned(to width: Int) -> String {
        String(repeating: " ", count: Swift.max(width - cellCount, 0)) + self
    }

    /// Shortened in the middle if it is too long. Both ends of a file's name distinguish it from others.
    package func shortened(to width: Int) -> String {
        guard cellCount > width else { return self }
        guard width > 3 else { return prefix(cells: width) }
        let kept = width - 1
        return prefix(cells: kept / 2) + "…" + String(String(reversed()).prefix(cells: kept - kept / 2).reversed())
    }

    /// Width in cells of a terminal: combining marks take none, ideographs and the like two.
    var cellCount: Int { unicodeScalars.reduce(0) { $0 + $1.cellCount } }

    /// As many of the first characters as fit.
    private func prefix(cells: Int) -> String {
        var rest = cells
        return String(
            prefix {
                rest -= String($0).cellCount
                return rest >= 0
            }
        )
    }

    /// Name of a source for display; that of the working directory is `.`.
    var sourceTitle: String { self == "." ? "this folder" : self }

    /// Safe for a terminal: names of files may contain escape sequences.
    package var printable: String {
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

extension Unicode.Scalar {
    /// East Asian Width W and F of Unicode, in whole blocks, and pictures.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
    ]

    fileprivate var cellCount: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        // Vowels and last consonants of decomposed Korean join the first consonant.
        if (0x1160...0x11FF).contains(value) { return 0 }
        return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
    }
}

/// Aligns cells in columns: the first columns left, the others right.
func columns(_ rows: [[String]], leading: Int = 1, gap: String = " ") -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].cellCount }.max() ?? 0 }
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
        } else if line.cellCount + 1 + word.cellCount <= width {
            line += " " + word
        } else {
            lines.append(line)
            line = String(repeating: " ", count: indent) + word
        }
    }
    return line.isEmpty ? lines : lines + [line]
}
