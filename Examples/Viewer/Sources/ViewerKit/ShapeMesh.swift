import TileCache

/// Triangles of shapes, for a renderer that draws triangles in one colour or through letters.
public struct ShapeMesh: Sendable {
    /// Cells of ASCII letters in one row of a picture, from space to tilde.
    public struct LetterCells: Hashable, Sendable {
        /// The letters; others become question marks.
        public static let codes = UInt8(ascii: " ")...UInt8(ascii: "~")
        /// Width of a letter in pixels of the screen.
        public var width: Int
        /// Height of a letter in pixels of the screen.
        public var height: Int

        /// Creates cells of a size.
        public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    }

    /// Numbers of a vertex: x, y, column and row in the letters' picture, red, green, blue, alpha from 0 to 1.
    ///
    /// Column -1 is the colour alone.
    public static let vertexSize = 8
    /// Vertices, three for each triangle.
    public private(set) var vertices: [Float] = []

    private let cells: LetterCells
    private let factor: Double

    /// Creates the triangles of shapes, in order.
    ///
    /// - Parameters:
    ///   - shapes: Shapes, in points.
    ///   - factor: Pixels of the screen per point, so that text is drawn in the screen's own pixels. Default: 1.
    ///   - cells: The letters' cells, drawn for this factor.
    public init(_ shapes: [Shape], factor: Double = 1, cells: LetterCells) {
        (self.factor, self.cells) = (factor, cells)
        for shape in shapes {
            switch shape {
            case .fill(let area, let colour): append(scaled(area), colour)
            case .outline(let area, let colour): outline(scaled(area), colour)
            case .text(let text, let x, let y, let colour): append(text, x, y, colour)
            }
        }
    }

    private func scaled(_ area: PixelRect) -> PixelRect {
        PixelRect(
            minX: (area.minX * factor).rounded(),
            minY: (area.minY * factor).rounded(),
            maxX: (area.maxX * factor).rounded(),
            maxY: (area.maxY * factor).rounded()
        )
    }

    private mutating func outline(_ area: PixelRect, _ colour: Colour) {
        guard !area.isEmpty else { return }
        let line = max(factor.rounded(), 1)
        let (top, bottom) = (min(area.minY + line, area.maxY), max(area.maxY - line, area.minY))
        append(PixelRect(minX: area.minX, minY: area.minY, maxX: area.maxX, maxY: top), colour)
        append(PixelRect(minX: area.minX, minY: bottom, maxX: area.maxX, maxY: area.maxY), colour)
        let (left, right) = (min(area.minX + line, area.maxX), max(area.maxX - line, area.minX))
        append(PixelRect(minX: area.minX, minY: top, maxX: left, maxY: bottom), colour)
        append(PixelRect(minX: right, minY: top, maxX: area.maxX, maxY: bottom), colour)
    }

    private mutating func append(_ text: String, _ x: Double, _ y: Double, _ colour: Colour) {
        var left = (x * factor).rounded()
        let top = (y * factor).rounded()
        let (width, height) = (Double(cells.width), Double(cells.height))
        for scalar in text.unicodeScalars {
            let code = UInt8(ascii: scalar.isASCII ? scalar : "?")
            if LetterCells.codes.contains(code), code != UInt8(ascii: " ") {
                append(
                    PixelRect(minX: left, minY: top, maxX: left + width, maxY: top + height),
                    colour,
                    column: Double(code - LetterCells.codes.lowerBound) * width
                )
            }
            left += width
        }
    }

    private mutating func append(_ area: PixelRect, _ colour: Colour, column: Double = -1) {
        guard !area.isEmpty else { return }
        let letters = column < 0 ? (0.0, 0.0) : (area.width, area.height)
        let corners = [
            (area.minX, area.minY, column, 0), (area.maxX, area.minY, column + letters.0, 0),
            (area.maxX, area.maxY, column + letters.0, letters.1), (area.minX, area.maxY, column, letters.1),
        ]
        let channels = [colour.red, colour.green, colour.blue, colour.alpha].map { Float($0) / 255 }
        for index in [0, 1, 2, 0, 2, 3] {
            let corner = corners[index]
            vertices += [Float(corner.0), Float(corner.1), Float(corner.2), Float(corner.3)] + channels
        }
    }
}
