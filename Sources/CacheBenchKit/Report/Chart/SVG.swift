func escaped(_ text: String) -> String {
    text.printable.reduce(into: "") { result, character in
        switch character {
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "&": result += "&amp;"
        case "\"": result += "&quot;"
        case "'": result += "&#39;"
        default: result.append(character)
        }
    }
}

/// A drawing as SVG elements. Colours are class names of the page's style sheet, so that the same drawing fits light
/// and dark.
struct SVG {
    let width: Double
    let height: Double
    private var body = ""

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    enum Anchor: String { case start, middle, end }

    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) {
        body += "<path class=\"\(style)\" d=\"M\(Self.place(x1, y1))L\(Self.place(x2, y2))\"/>"
    }

    mutating func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String) {
        body += Self.rectangle(x, y, max(width, 0), height, style) + "/>"
    }

    mutating func path(_ commands: String, _ style: String, title: String = "") {
        guard !commands.isEmpty else { return }
        body += "<path class=\"\(style)\" d=\"\(commands)\""
        body += title.isEmpty ? "/>" : "><title>\(escaped(title))</title></path>"
    }

    mutating func text(
        _ text: String,
        _ x: Double,
        _ y: Double,
        _ anchor: Anchor = .start,
        style: String = "t",
        turned: Bool = false
    ) {
        let turn = turned ? " transform=\"rotate(-90 \(Self.place(x, y)))\"" : ""
        body += "<text class=\"\(style)\" x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
        body += " text-anchor=\"\(anchor.rawValue)\"\(turn)>\(escaped(text))</text>"
    }

    mutating func hover(_ x: Double, _ y: Double, _ width: Double, _ height: Double, title: String) {
        body += Self.rectangle(x, y, max(width, 0.1), height, "hover") + "><title>\(escaped(title))</title></rect>"
    }

    /// Adds a number in a circle that links to another place of the page.
    mutating func spot(_ number: Int, _ x: Double, _ y: Double, link: String, title: String) {
        body += "<a href=\"#\(link)\"><title>\(escaped(title))</title>"
        body += "<path class=\"spot\" d=\"\(Self.circle(x, y, 8))\"/>"
        text("\(number)", x, y + 3.8, .middle, style: "spot-text")
        body += "</a>"
    }

    /// Adds a marker of a series: shapes distinguish series without colours.
    mutating func marker(_ kind: Int, _ x: Double, _ y: Double, _ style: String, title: String = "") {
        let r = 3.6
        let corners: [(Double, Double)] =
            switch kind % 6 {
            case 0: []
            case 1: [(-r, -r), (r, -r), (r, r), (-r, r)]
            case 2: [(0, -r * 1.25), (r * 1.15, r), (-r * 1.15, r)]
            case 3: [(0, -r * 1.35), (r * 1.35, 0), (0, r * 1.35), (-r * 1.35, 0)]
            case 4: [(0, r * 1.25), (r * 1.15, -r), (-r * 1.15, -r)]
            default:
                [
                    (-1.2, -r), (1.2, -r), (1.2, -1.2), (r, -1.2), (r, 1.2), (1.2, 1.2), (1.2, r),
                    (-1.2, r), (-1.2, 1.2), (-r, 1.2), (-r, -1.2), (-1.2, -1.2),
                ]
            }
        let shape = corners.isEmpty ? Self.circle(x, y, r) : Self.polygon(x, y, corners)
        body += "<path class=\"\(style)\" d=\"\(shape)\">"
        if !title.isEmpty { body += "<title>\(escaped(title))</title>" }
        body += "</path>"
    }

    func element(label: String, style: String) -> String {
        "<svg class=\"\(style)\" viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" role=\"img\""
            + " aria-label=\"\(escaped(label))\" xmlns=\"http://www.w3.org/2000/svg\">\(body)</svg>"
    }

    /// A separate file, with the rules for its classes.
    func file(label: String, rules: String) -> String {
        "<svg viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" role=\"img\" aria-label=\"\(escaped(label))\""
            + " xmlns=\"http://www.w3.org/2000/svg\"><style>\(rules)</style>\(body)</svg>\n"
    }

    /// Formats a number to a tenth of a pixel, the same on every machine.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let tenths = Int((min(max(value, -1e9), 1e9) * 10).rounded())
        if tenths % 10 == 0 { return "\(tenths / 10)" }
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// Coordinates of a path.
    static func place(_ x: Double, _ y: Double) -> String { "\(number(x)) \(number(y))" }

    private static func rectangle(_ x: Double, _ y: Double, _ w: Double, _ h: Double, _ style: String) -> String {
        "<rect class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(w))\" height=\"\(number(max(h, 0)))\""
    }

    private static func circle(_ x: Double, _ y: Double, _ r: Double) -> String {
        "M\(place(x - r, y))a\(number(r)) \(number(r)) 0 1 0 \(number(2 * r)) 0"
            + "a\(number(r)) \(number(r)) 0 1 0 \(number(-2 * r)) 0z"
    }

    private static func polygon(_ x: Double, _ y: Double, _ corners: [(Double, Double)]) -> String {
        "M" + corners.map { place(x + $0.0, y + $0.1) }.joined(separator: "L") + "z"
    }
}
