import TileCache

/// Names of tiles, with places for their numbers: addresses on a server, or paths of files.
///
/// Places are `{z}`, `{x}`, `{y}`, `{-y}` (rows from the bottom), `{q}` (the quadkey), `{s}` (a subdomain), `{r}` and
/// `{ratio}` (`@2x` and `2` for doubled tiles). A number may be divided, cut and padded, and written with 16 digits:
/// `{x/1000%1000:03}`, `{y:08x}`. What follows `#` chooses: `rows=bottom`, `world=geodetic`, `s=a,b,c` and `ratio=2`,
/// joined by `&`.
struct TileTemplate: Hashable, Sendable {
    /// A number of a tile.
    struct Number: Hashable {
        enum Axis { case zoom, column, row, rowFromBottom }

        var axis: Axis
        var divisor = 1
        var modulus: Int?
        var width = 0
        var radix = 10
        var isUppercase = false

        /// The part of a tile's number that stands in a name.
        func text(of value: Int) -> String {
            let part = value / divisor
            let digits = String(modulus.map { part % $0 } ?? part, radix: radix, uppercase: isUppercase)
            return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
        }

        /// Whether parts of one number tell all of it: the lowest digits, and from there on all others.
        ///
        /// - Parameter end: More than the largest number.
        static func tellAll(_ parts: [Number], below end: Int) -> Bool {
            // What is told is the rest by this number.
            var told = 1
            while told < end {
                let next = parts.compactMap { part -> Int? in
                    guard part.divisor <= told else { return nil }
                    guard let modulus = part.modulus else { return .max }
                    return told % part.divisor == 0 ? part.divisor * modulus : nil
                }.max()
                guard let next, next > told else { return false }
                told = next
            }
            return true
        }
    }

    enum Part: Hashable { case text(String), number(Number), quadkey, subdomain }

    private(set) var parts: [Part] = []
    private(set) var choice = TemplateChoice()
    /// The text without its choices.
    let text: String
    /// All that was given, for data sets.
    private(set) var identity: String
    /// Other forms of the address, of which the sum of column and row chooses one.
    private var others: [[Part]] = []

    /// Places, for messages.
    private static let places = "{z}, {x}, {y} or {-y}"
    /// Bytes of a template.
    private static let longest = 8192
    /// Digits of a padded number.
    private static let widest = 32

    /// Parses the template of a server, `http://server/{z}/{x}/{y}.png`.
    init(_ text: String) throws(TileSourceError) {
        guard HTTPAddress.begins(text) else {
            throw TileSourceError(text, "an address that begins with http:// or https:// was expected")
        }
        guard !text.utf8.contains(where: { $0 <= 32 || $0 >= 127 }) else {
            throw TileSourceError(
                text,
                "an address without spaces and of ASCII letters was expected; write others as %XX"
            )
        }
        try self.init(parsing: text)
    }

    /// Parses paths within a folder.
    init(files text: String) throws(TileSourceError) {
        try self.init(parsing: text)
        guard !parts.contains(.subdomain) else { throw TileSourceError(text, "{s} is a place for servers only") }
    }

    /// Parses the template of files, `/tiles/{z}/{x}/{y}.png`: the folder of all tiles, their paths in it without the
    /// extension, and the extension if it is stated, in lower case.
    static func files(_ text: String) throws(TileSourceError) -> (String, TileTemplate, ending: String?) {
        let whole = try TileTemplate(files: text)
        let ending = TileFolderLayout.extensions.first { whole.text.lowercased().hasSuffix(".\($0)") }
        let names = whole.text.dropLast(ending.map { $0.utf8.count + 1 } ?? 0)
        let slash = names.prefix { $0 != "{" }.lastIndex(of: "/")
        let folder = slash.map { $0 == names.startIndex ? "/" : String(names[..<$0]) } ?? "."
        let rest = slash.map { names[names.index(after: $0)...] } ?? names
        return (folder, try TileTemplate(files: "\(rest)\(text.dropFirst(whole.text.count))"), ending)
    }

    /// Several templates of the same tiles.
    init(_ texts: [String]) throws(TileSourceError) {
        guard let first = texts.first else { throw TileSourceError("", "a template was expected") }
        try self.init(first)
        for text in texts.dropFirst() { others.append(try TileTemplate(text).parts) }
        identity = texts.joined(separator: " ")
    }

    private init(parsing whole: String) throws(TileSourceError) {
        guard whole.utf8.count <= Self.longest else {
            throw TileSourceError(
                "\(whole.prefix(100))...",
                "a template of at most \(Self.longest) bytes was expected, not of \(whole.utf8.count)"
            )
        }
        let (names, choice) = try TemplateChoice.split(whole)
        (identity, text, self.choice) = (whole, names, choice)
        var rest = Substring(names)
        var parts: [Part] = []
        func add(_ piece: some StringProtocol) { if !piece.isEmpty { parts.append(.text(String(piece))) } }
        while let open = rest.firstIndex(of: "{") {
            guard rest[..<open].last != "$" else {
                let place = rest[open...].prefix { $0 != "}" } + "}"
                throw TileSourceError(whole, "\(Self.places) was expected, not $\(place)")
            }
            add(rest[..<open])
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw TileSourceError(whole, "a } was expected for each {")
            }
            switch rest[rest.index(after: open)..<close] {
            case "q": parts.append(.quadkey)
            case "s": parts.append(.subdomain)
            case "r": add(choice.ratio == 1 ? "" : "@\(choice.ratio)x")
            case "ratio": add("\(choice.ratio)")
            case let place:
                guard let number = Self.number(place) else {
                    throw TileSourceError(
                        whole,
                        "\(Self.places) was expected, {q}, {s}, {r} or {ratio}, or a number as {x/1000%1000:03} or "
                            + "{y:08x}, not \(rest[open...close])"
                    )
                }
                parts.append(.number(number))
            }
            rest = rest[rest.index(after: close)...]
        }
        add(rest)
        self.parts = parts
        try checkPlaces(whole)
    }

    /// Refuses a template that gives several tiles one name.
    private func checkPlaces(_ whole: String) throws(TileSourceError) {
        func has(_ axes: Number.Axis...) -> Bool {
            parts.contains { if case .number(let number) = $0 { axes.contains(number.axis) } else { false } }
        }
        guard parts.contains(.quadkey) || has(.zoom) && has(.column) && has(.row, .rowFromBottom) else {
            throw TileSourceError(whole, "places for {z}, {x} and {y} (or {-y}), or for {q}, were expected in it")
        }
        func tells(_ axis: Number.Axis) -> Bool {
            let own = parts.compactMap { if case .number(let number) = $0, number.axis == axis { number } else { nil } }
            let last = MapPyramid.zooms.upperBound
            // A geodetic world has two tiles at zoom 0.
            return Number.tellAll(own, below: axis == .zoom ? last + 1 : 2 << last)
        }
        guard parts.contains(.quadkey) || tells(.zoom) && tells(.column) && (tells(.row) || tells(.rowFromBottom))
        else {
            throw TileSourceError(
                whole,
                "parts that tell each zoom, column and row were expected, as {x} or {x/1000}/{x%1000}: several tiles would "
                    + "have one name"
            )
        }
    }

    /// Parses `x`, `x/1000`, `x%1000:03` or `y:08x`.
    private static func number(_ text: Substring) -> Number? {
        let axes: [Substring: Number.Axis] = ["z": .zoom, "x": .column, "y": .row, "-y": .rowFromBottom]
        guard
            let parts = text.wholeMatch(of: #/(-?[a-z])(?:/([0-9]{1,9}))?(?:%([0-9]{1,9}))?(?::([0-9]{1,2})([xX])?)?/#)?
                .output, let axis = axes[parts.1]
        else { return nil }
        var number = Number(axis: axis)
        if let divisor = parts.2 { number.divisor = Int(divisor) ?? 0 }
        if let modulus = parts.3 { number.modulus = Int(modulus) }
        if let width = parts.4 { number.width = Int(width) ?? 0 }
        if let digits = parts.5 { (number.radix, number.isUppercase) = (16, digits == "X") }
        guard number.divisor > 0, number.modulus != 0, number.width <= widest else { return nil }
        return number
    }

    /// Number of a tile as it is counted here.
    func value(_ axis: Number.Axis, zoom: Int, column: Int, row: Int) -> Int {
        switch axis {
        case .zoom: return zoom
        case .column: return column
        case .row: return choice.rows.number(of: row, zoom: zoom)
        case .rowFromBottom:
            let other: TileRowOrder = choice.rows == .fromTop ? .fromBottom : .fromTop
            return other.number(of: row, zoom: zoom)
        }
    }

    /// Name of a tile, its row counted from the top.
    func address(zoom: Int, column: Int, row: Int) -> String {
        let turn = (column + row) % (others.count + 1)
        return (turn == 0 ? parts : others[turn - 1]).reduce(into: "") { address, part in
            switch part {
            case .text(let text): address += text
            case .number(let number):
                address += number.text(of: value(number.axis, zoom: zoom, column: column, row: row))
            case .quadkey:
                address += Self.quadkey(zoom: zoom, column: column, row: choice.rows.number(of: row, zoom: zoom))
            case .subdomain: address += choice.subdomains[(column + row) % choice.subdomains.count]
            }
        }
    }

    /// A digit of 0 to 3 for each zoom: that of the column and twice that of the row.
    static func quadkey(zoom: Int, column: Int, row: Int) -> String {
        (0..<zoom).reversed().map { "\(column >> $0 & 1 + 2 * (row >> $0 & 1))" }.joined()
    }
}

/// What follows `#` in the template of tiles.
struct TemplateChoice: Hashable, Sendable {
    /// Where row 0 of `{y}` is; that of `{-y}` is at the other end.
    var rows = TileRowOrder.fromTop
    var world: MapWorld?
    var subdomains = ["a", "b", "c"]
    var ratio = 1

    /// The `#` before the choices, if there are some.
    static func mark(in text: String) -> String.Index? {
        guard let mark = text.lastIndex(of: "#"), text[mark...].contains("="), !text[mark...].contains("/") else {
            return nil
        }
        return mark
    }

    /// Separates the choices from a text. What follows a `#` without a `=`, or with a `/`, is a part of the text.
    static func split(_ text: String) throws(TileSourceError) -> (text: String, TemplateChoice) {
        guard let mark = mark(in: text) else { return (text, TemplateChoice()) }
        let end = text[text.index(after: mark)...]
        var choice = TemplateChoice()
        for part in end.split(separator: "&", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, choice.take(pair[0], pair[1]) else {
                throw TileSourceError(
                    text,
                    "rows=top, rows=bottom, world=square, world=geodetic, s=a,b,c or ratio=1 to 4 was expected after #, "
                        + "joined by &, not \"\(part)\""
                )
            }
        }
        return (String(text[..<mark]), choice)
    }

    private mutating func take(_ name: Substring, _ value: Substring) -> Bool {
        switch (name, value) {
        case ("rows", "top"): rows = .fromTop
        case ("rows", "bottom"): rows = .fromBottom
        case ("world", _):
            world = MapWorld(rawValue: String(value))
            return world != nil
        case ("s", _):
            let names = value.contains(",") ? value.split(separator: ",").map(String.init) : value.map { "\($0)" }
            subdomains = names
            return !names.isEmpty
        case ("ratio", _):
            ratio = Int(value) ?? 0
            return (1...4).contains(ratio)
        default: return false
        }
        return true
    }
}
