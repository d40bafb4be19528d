public import TileCache

/// Colour, not premultiplied by alpha.
public struct Colour: Hashable, Sendable {
    /// Red.
    public var red: UInt8
    /// Green.
    public var green: UInt8
    /// Blue.
    public var blue: UInt8
    /// Alpha; 255 is opaque.
    public var alpha: UInt8

    /// Creates a colour from `0xRRGGBB`.
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

/// Shape of the overlay, drawn over the tiles in order, in screen pixels.
public enum Shape: Hashable, Sendable {
    /// Filled rectangle.
    case fill(PixelRect, Colour)
    /// Outline of a rectangle, one pixel wide, inside it.
    case outline(PixelRect, Colour)
    /// Line of text at its upper left corner, in cells of ``letterWidth`` by ``lineHeight``.
    case text(String, x: Double, y: Double, Colour)

    /// Width of a letter, in pixels.
    public static let letterWidth = 8.0
    /// Distance between lines, in pixels.
    public static let lineHeight = 17.0

    /// Width of a line of text, in pixels.
    static func width(of text: String) -> Double { Double(text.unicodeScalars.count) * letterWidth }
}

extension Colour {
    /// Colour of a tile in this state.
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

    /// Colour of the predicted view.
    static let cyan = Colour(0x00E5FF)
    static let white = Colour(0xFFFFFF)
    static let grey = Colour(0xB0B0B0)
    static let yellow = Colour(0xFFEB3B)
    static let panel = Colour(0x101418, alpha: 240)
}
