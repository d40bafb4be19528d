public import TileCache

/// A colour, not multiplied by its alpha.
public struct Colour: Hashable, Sendable {
    /// Red.
    public var red: UInt8
    /// Green.
    public var green: UInt8
    /// Blue.
    public var blue: UInt8
    /// 255 hides what is below.
    public var alpha: UInt8

    /// Makes a colour of `0xRRGGBB`.
    public init(_ rgb: UInt32, alpha: UInt8 = 255) {
        red = UInt8(truncatingIfNeeded: rgb >> 16)
        green = UInt8(truncatingIfNeeded: rgb >> 8)
        blue = UInt8(truncatingIfNeeded: rgb)
        self.alpha = alpha
    }

    func with(alpha: UInt8) -> Colour {
        var colour = self
        colour.alpha = alpha
        return colour
    }
}

/// Something of the overlay, drawn over the tiles in its order; in screen pixels.
public enum Shape: Hashable, Sendable {
    /// An area.
    case fill(PixelRect, Colour)
    /// The edge of an area, one pixel wide, within it.
    case outline(PixelRect, Colour)
    /// A line of text whose upper left corner is named, each letter in a cell of ``letterWidth`` by ``lineHeight``.
    case text(String, x: Double, y: Double, Colour)

    /// The width of a letter, in pixels.
    public static let letterWidth = 8.0
    /// From one line to the next, in pixels.
    public static let lineHeight = 17.0

    /// The width of a line of text, in pixels.
    static func width(of text: String) -> Double { Double(text.unicodeScalars.count) * letterWidth }
}

extension Colour {
    /// What a tile in this state is painted in.
    static func of(_ state: TileViewDiagnostics.TileState) -> Colour {
        switch state {
        case .missing: Colour(0xE53935)
        case .loading: Colour(0xFB8C00)
        case .compressed: Colour(0x1E88E5)
        case .decoded: Colour(0x43A047)
        case .stale: Colour(0x8E24AA)
        case .absent: Colour(0x757575)
        case .failed: Colour(0xFF6EC7)
        }
    }

    /// Where the view is expected to go.
    static let cyan = Colour(0x00E5FF)
    static let white = Colour(0xFFFFFF)
    static let grey = Colour(0xB0B0B0)
    static let yellow = Colour(0xFFEB3B)
    static let panel = Colour(0x101418, alpha: 240)
}
