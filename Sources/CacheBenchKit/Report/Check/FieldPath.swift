enum FieldPath {
    /// Names of the parts of a replay's report.
    private static let parts: Set<String> = ["traces", "total", "sources"]

    typealias Place = (path: String, value: JSONTree)

    /// Finds all values of a path, with their full paths.
    ///
    /// - Parameters:
    ///   - takesObjects: Whether an object is a value too. Some objects of a report are `null` if there are none.
    ///   - endsAtNull: Whether such a `null` is the value of all paths through it.
    static func values(
        at path: String,
        in report: JSONTree,
        flag: String,
        takesObjects: Bool,
        endsAtNull: Bool
    ) throws(ReplayError) -> [Place] {
        guard case .object(let fields) = report else { return [] }
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let first = JSONTree.general(names[0])
        if fields["total"] != nil, fields["traces"] != nil, fields[first] == nil {
            names.insert("total", at: 0)
        }
        var found: [Place] = [("", report)]
        for name in names {
            found = found.flatMap { place -> [Place] in
                if endsAtNull, case .null = place.value { [place] } else { step(from: place, to: name) }
            }
        }
        let leaves = found.flatMap { elements($0) }.filter {
            if case .object = $0.value { takesObjects } else { true }
        }
        guard !leaves.isEmpty else {
            throw ReplayError("\(flag): the report has no field \(path.printable)" + nearNames(path, in: report))
        }
        return leaves
    }

    private static func step(from place: Place, to name: String) -> [Place] {
        elements(place).flatMap { place -> [Place] in
            let plain = JSONTree.general(name)
            guard case .object(let fields) = place.value, let value = fields[plain] else { return [] }
            let path = place.path.isEmpty ? plain : place.path + "." + plain
            guard plain != name else { return [(path, value)] }
            guard case .array(let list) = value, name.hasPrefix(plain + "["), name.hasSuffix("]"),
                let index = Int(name.dropFirst(plain.count + 1).dropLast()), list.indices.contains(index)
            else { return [] }
            return [("\(path)[\(index)]", list[index])]
        }
    }

    private static func elements(_ place: Place) -> [Place] {
        guard case .array(let list) = place.value else { return [place] }
        return list.enumerated().map { ("\(place.path)[\($0.offset)]", $0.element) }
    }

    /// A path without the numbers of elements and the part of a replay's report.
    private static func bare(_ path: String) -> String {
        var name = JSONTree.general(path)
        for part in parts where name.hasPrefix(part + ".") { name.removeFirst(part.count + 1) }
        return name
    }

    /// The end of a message about an unknown field: similar names, those with the fewest letters to change, at most a
    /// third of them. Empty if there are none.
    static func nearNames(_ path: String, in report: JSONTree) -> String {
        let known = Set(report.leaves.map { bare($0.path) })
        let wanted = bare(path)
        let last = JSONTree.lastName(wanted)
        let near = known.map { name -> (String, Int) in
            // The last name alone may be right, or similar, with a wrong path.
            (name, min(Spelling.distance(wanted, name), Spelling.distance(last, JSONTree.lastName(name)) + 1))
        }
        .filter { $0.1 <= max(last.count / 3, 2) }
        .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
        .prefix(3).map(\.0)
        return near.isEmpty ? "" : "; near are \(near.joined(separator: ", "))"
    }
}
