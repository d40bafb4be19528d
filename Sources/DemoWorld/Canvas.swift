/// A colour without alpha, components from 0 to 255.
struct Color: Equatable {
    var red: Float
    var green: Float
    var blue: Float

    /// Creates a colour from `0xRRGGBB`.
    @inline(__always)
    init(_ hex: UInt32) {
        red = Float((hex >> 16) & 255)
        green = Float((hex >> 8) & 255)
        blue = Float(hex & 255)
    }

    /// Moves towards another colour by a fraction from 0 to 1.
    @inline(__always)
    mutating func mix(_ other: Color, _ part: Float) {
        red += (other.red - red) * part
        green += (other.green - green) * part
        blue += (other.blue - blue) * part
    }

    /// Multiplies the brightness by a factor.
    mutating func shade(_ factor: Float) {
        red = min(red * factor, 255)
        green = min(green * factor, 255)
        blue = min(blue * factor, 255)
    }

    /// The four bytes red, green, blue and an alpha of 255, as one little-endian number.
    var packed: UInt32 {
        UInt32(red + 0.5) | UInt32(green + 0.5) << 8 | UInt32(blue + 0.5) << 16 | 0xFF00_0000
    }
}

/// Pixels of one tile, addressed by their place in the level's plane.
struct Canvas {
    let frame: TileFrame
    private let pixels: UnsafeMutableRawPointer
    private let bytesPerRow: Int

    /// - Parameters:
    ///   - frame: The pixels' place in the plane.
    ///   - pixels: The first byte of the first row; four bytes a pixel.
    ///   - bytesPerRow: Bytes from the start of one row to the start of the next.
    init(frame: TileFrame, pixels: UnsafeMutableRawPointer, bytesPerRow: Int) {
        self.frame = frame
        self.pixels = pixels
        self.bytesPerRow = bytesPerRow
    }

    /// Writes a pixel.
    @inline(__always)
    func set(_ x: Int, _ y: Int, _ packed: UInt32) {
        pixels.storeBytes(of: packed.littleEndian, toByteOffset: offset(x, y), as: UInt32.self)
    }

    /// Covers a part of a pixel with a colour.
    @inline(__always)
    func blend(_ x: Int, _ y: Int, _ color: Color, _ part: Float) {
        guard part > 0 else { return }
        if part >= 1 { return set(x, y, color.packed) }
        let bits = UInt32(littleEndian: pixels.load(fromByteOffset: offset(x, y), as: UInt32.self))
        var mixed = Color((bits & 255) << 16 | (bits & 0xFF00) | (bits >> 16) & 255)
        mixed.mix(color, part)
        set(x, y, mixed.packed)
    }

    @inline(__always)
    private func offset(_ x: Int, _ y: Int) -> Int {
        (y - frame.top) * bytesPerRow + (x - frame.left) * 4
    }
}

/// Colours of the map. Computed, hence constants at their use; stored ones are checked for initialization.
enum Palette {
    static var sea: Color { Color(0xA9CFE0) }
    static var deepSea: Color { Color(0x9AC3D8) }
    static var coast: Color { Color(0x7FB0C8) }
    static var land: Color { Color(0xF3EFE6) }
    static var highland: Color { Color(0xE9E0CC) }
    static var forest: Color { Color(0xB5D5A4) }
    static var park: Color { Color(0xCDEBB8) }
    static var builtUp: Color { Color(0xE3DFDC) }
    static var building: Color { Color(0xD3C6BC) }
    static var buildingEdge: Color { Color(0xB5A598) }
    static var street: Color { Color(0xFFFFFF) }
    static var streetCasing: Color { Color(0xC4BEB9) }
    static var label: Color { Color(0x39363B) }
    static var regionLabel: Color { Color(0x7A6488) }
    static var halo: Color { Color(0xFCFBF8) }
}
