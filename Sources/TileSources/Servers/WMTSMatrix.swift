import TileCache

/// One resolution of a WMTS server. Has the element `TileMatrix`, and the limits of a layer in it.
struct WMTSMatrix: Equatable {
    let id: String
    let scaleDenominator: Double
    /// Half of the last digit of the denominator.
    let rounding: Double
    /// In the units and the order of the coordinate system.
    let corner: [Double]
    let tileWidth: Int
    let tileHeight: Int
    private(set) var columns: Range<Int>
    private(set) var rows: Range<Int>
    /// Whether the layer's limits are in `columns` and `rows`.
    private(set) var isLimited = false
    /// Of the whole matrix.
    let width: Int
    let height: Int
    /// Pixels of the set's finest matrix for one of this.
    var ratio = 1.0
    /// The corner, in pixels of the set's finest matrix from its corner, y downwards.
    var origin = WorldPoint(x: 0, y: 0)

    /// Maximum number of elements; there are seven, besides titles and keywords.
    static let mostElements = 100

    init(_ element: XMLElement, _ address: String) throws(TileSourceError) {
        let fields = WMTSFields(element, address)
        id = try fields.text("Identifier")
        (scaleDenominator, rounding) = try fields.real("ScaleDenominator")
        corner = try fields.reals("TopLeftCorner", 2)
        tileWidth = try fields.number("TileWidth", TileSourceOptions.tileSizes)
        tileHeight = try fields.number("TileHeight", TileSourceOptions.tileSizes)
        width = try fields.number("MatrixWidth", 1...1 << 30)
        height = try fields.number("MatrixHeight", 1...1 << 30)
        (columns, rows) = (0..<width, 0..<height)
    }

    /// Applies an element `TileMatrixLimits`.
    mutating func limit(_ element: XMLElement, _ address: String) throws(TileSourceError) {
        let fields = WMTSFields(element, address)
        func range(_ first: String, _ last: String, _ count: Int) throws(TileSourceError) -> Range<Int> {
            let start = try fields.number(first, 0...Int(Int32.max))
            let end = try fields.number(last, start...Int(Int32.max))
            return min(start, count)..<min(end + 1, count)
        }
        columns = try range("MinTileCol", "MaxTileCol", width)
        rows = try range("MinTileRow", "MaxTileRow", height)
        isLimited = true
    }

    /// Whether both begin at the same place, but for rounding in the last digits.
    func beginsWith(_ other: WMTSMatrix) -> Bool { isEqual(other, 0) && isEqual(other, 1) }

    /// Whether one coordinate of both corners is the same, but for rounding.
    func isEqual(_ other: WMTSMatrix, _ place: Int) -> Bool {
        // What should be 0 has the rounding of the sums that it was computed from, in the size of the other coordinate.
        let largest = (corner + other.corner).reduce(0) { max($0, abs($1)) }
        let (one, two) = (corner[place], other.corner[place])
        return abs(one - two) <= max(1e-8 * max(abs(one), abs(two)), 1e-12 * largest)
    }
}

/// Children of an element of the capabilities, with messages that name them.
struct WMTSFields {
    let element: XMLElement
    let address: String

    init(_ element: XMLElement, _ address: String) { (self.element, self.address) = (element, address) }

    func failure(_ expected: String) -> TileSourceError {
        let name = element.child("Identifier").map { " \"\($0.text.prefix(60))\"" } ?? ""
        return TileSourceError(address, "\(element.name)\(name): \(expected)")
    }

    func text(_ name: String) throws(TileSourceError) -> String {
        guard let text = element.child(name)?.text, !text.isEmpty else { throw failure("\(name) was expected") }
        return text
    }

    /// A text with numbers. Each layer that is tried reads them again: their length is bounded.
    private func numbers(_ name: String) throws(TileSourceError) -> String {
        let text = try text(name)
        guard text.utf8.count <= 200 else { throw failure("\(name) of at most 200 bytes was expected") }
        return text
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(TileSourceError) -> Int {
        let text = try numbers(name)
        guard let number = Int(text), range.contains(number) else {
            let expected = "\(range.lowerBound) to \(range.upperBound)"
            throw failure("\(name) of \(expected) was expected, not \"\(text.prefix(40))\"")
        }
        return number
    }

    /// A number above 0, and half of its last digit.
    func real(_ name: String) throws(TileSourceError) -> (Double, Double) {
        let text = try numbers(name)
        guard let number = Double(text), number.isFinite, number > 0 else {
            throw failure("\(name) above 0 was expected, not \"\(text.prefix(40))\"")
        }
        return (number, Self.rounding(of: text))
    }

    /// Half of the last digit of a decimal number: 0.005 for "1.25", 0.5 for "3", 50 for "12e2".
    static func rounding(of text: String) -> Double {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        let digits = parts.first?.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false) ?? []
        let exponent = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        let last = exponent - (digits.count == 2 ? digits[1].count : 0)
        guard abs(last) < 400 else { return 0 }
        return 0.5 * (Double("1e\(last)") ?? 0)
    }

    func reals(_ name: String, _ count: Int) throws(TileSourceError) -> [Double] {
        let text = try numbers(name)
        let reals = text.split(whereSeparator: \.isWhitespace).map { Double($0) ?? .nan }
        guard reals.count == count, reals.allSatisfy(\.isFinite) else {
            throw failure("\(name) with \(count) numbers was expected, not \"\(text.prefix(40))\"")
        }
        return reals
    }
}
