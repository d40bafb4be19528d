/// Finds similar words for a mistyped one.
package enum Spelling {
    /// Number of letters to add, drop or change between two words, ignoring case.
    static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a.prefix(100).lowercased())
        let b = Array(b.prefix(100).lowercased())
        var row = Array(0...b.count)
        for (index, character) in a.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in b.indices {
                let kept = diagonal + (character == b[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(kept, min(diagonal, row[column]) + 1)
            }
        }
        return row[b.count]
    }

    /// Nearest of some words, if at most a third of the letters differ. In words of four or more letters two may
    /// differ.
    package static func nearest(to word: String, in words: [String]) -> String? {
        let near = words.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
        guard let near, near.1 <= max(word.count / 3, word.count < 4 ? 1 : 2) else { return nil }
        return near.0
    }
}
