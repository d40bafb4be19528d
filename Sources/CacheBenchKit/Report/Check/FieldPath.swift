enum FieldPath {
    /// Names of the parts of a replay's report.
    private static let parts: Set<String> = ["traces", "total", "sources"]

    /// Finds all values of a path, with their full paths.
    static func values(
        at path: String,
        in report: JSONTree,
        flag: String
    ) throws(CheckError) -> [(path: String, value: JSONTree)] {
        guard case .object(let fields) = report else { return [] }
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let first = JSONTree.general(names[0])
        if fields["total"] != nil, fields["traces"] != nil, fields[first] == nil {
            names.insert("total", at: 0)
        }
        var found: [(path: String, value: JSONTree)] = [("", report)]
        for name in names { found = found.flatMap { step(from: $0, to: name) } }
        found = found.flatMap { elements($0) }
        let leaves = found.filter {
            if case .object = $0.value { false } else { true }
        }
        guard !leaves.isEmpty else {
            let near = nearNames(path, in: report)
            throw CheckError(
                "\(flag): the report has no field \(path.printable)"
                    + (near.isEmpty ? "" : "; near are \(near.joined(separator: ", "))")
            )
        }
        return leaves
    }

    private static func step(
        from place: (path: String, value: JSONTree),
        to name: String
    ) -> [(path: String, value: JSONTree)] {
        elements(place).flatMap { place -> [(path: String, value: JSONTree)] in
            guard case .object(let fields) = place.value else { return [] }
            let plain = JSONTree.general(name)
            guard let value = fields[plain] else { return [] }
            let path = place.path.isEmpty ? plain : place.path + "." + plain
            guard plain != name else { return [(path, value)] }
            guard case .array(let list) = value, name.hasPrefix(plain + "["), name.hasSuffix("]"),
                let index = Int(name.dropFirst(plain.count + 1).dropLast()), list.indices.contains(index)
            else { return [] }
            return [("\(path)[\(index)]", list[index])]
        }
    }

    private static func elements(_ place: (path: String, value: JSONTree)) -> [(path: String, value: JSONTree)] {
        guard case .array(let list) = place.value else { return [place] }
        return list.enumerated().map { ("\(place.path)[\($0.offset)]", $0.element) }
    }

    /// Finds similar names. Those with the fewest letters to change, at most a third of them.
    static func nearNames(_ path: String, in report: JSONTree) -> [String] {
        var known: Set<String> = []
        for leaf in report.leaves {
            var name = JSONTree.general(leaf.path)
            for part in parts where name.hasPrefix(part + ".") { name.removeFirst(part.count + 1) }
            known.insert(name)
        }
        var wanted = JSONTree.general(path)
        for part in parts where wanted.hasPrefix(part + ".") { wanted.removeFirst(part.count + 1) }
        let last = wanted.split(separator: ".").last.map(String.init) ?? wanted
        return known.map { name -> (String, Int) in
            let ownLast = name.split(separator: ".").last.map(String.init) ?? name
            // The last name alone may be right, or similar, with a wrong path.
            return (name, min(Spelling.distance(wanted, name), Spelling.distance(last, ownLast) + 1))
        }
        .filter { $0.1 <= max(last.count / 3, 2) }
        .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
        .prefix(3).map(\.0)
    }
}
