/// Detail of a place: streets, blocks and houses in towns, and trees outside of them.
///
/// A pure function of the place, in world pixels, so that no line has to be drawn and none is cut at a border.
struct TownPlan {
    /// World pixels per pixel.
    let worldPerPixel: Float

    /// Whether streets are drawn at this level.
    var hasStreets: Bool { worldPerPixel <= 4 }
    /// Whether houses and trees are drawn at this level.
    var hasHouses: Bool { worldPerPixel <= 2 }

    /// Size of a block between two streets, in world pixels.
    private static let block: (width: Float, height: Float) = (64, 44)
    /// Size of a lot with one house on it, in world pixels.
    private static let lot: (width: Float, height: Float) = (16, 22)
    /// Distance between trees, in world pixels.
    private static let treeSpacing = 11.0

    /// Draws the part of a town that covers one pixel.
    ///
    /// - Parameters:
    ///   - color: Colour of the ground, which the town is drawn on.
    ///   - x: Distance to the right from the centre of the settlement, in world pixels.
    ///   - y: The same, downwards.
    ///   - settlement: The settlement.
    func paintTown(_ color: inout Color, x: Float, y: Float, settlement: Settlement) {
        let (cosine, sine) = (Float(settlement.cosine), Float(settlement.sine))
        let u = x * cosine + y * sine
        let v = y * cosine - x * sine
        let salt = UInt32(truncatingIfNeeded: settlement.bits)
        let column = floor(u / Self.block.width)
        let row = floor(v / Self.block.height)
        let (inU, inV) = (u - Float(column) * Self.block.width, v - Float(row) * Self.block.height)

        let toStreet = min(
            distance(inU, Self.block.width, line: column, across: row, salt: salt),
            distance(inV, Self.block.height, line: row, across: column, salt: salt ^ 0xABCD)
        )
        let pixels = toStreet / worldPerPixel
        if hasHouses, pixels > 0 {
            let block = Hash.mix(column, row, salt ^ 0x1234)
            if block % 13 == 0 {
                color.mix(Palette.park, min(pixels, 1))
            } else {
                paintHouse(&color, inU, inV, block)
            }
            color.mix(Palette.streetCasing, min(max(1.3 - pixels, 0), 1))
        }
        color.mix(Palette.street, min(max(0.5 - pixels, 0), 1))
    }

    /// Distance to the edge of the nearest street along one direction; negative on the street.
    private func distance(_ position: Float, _ size: Float, line: Int32, across: Int32, salt: UInt32) -> Float {
        let isNext = position > size / 2
        let index = isNext ? line + 1 : line
        let isAvenue = index & 3 == 0
        // A few streets are missing, which makes longer blocks.
        guard isAvenue || Hash.mix(index, across, salt) % 6 != 0 else { return size }
        return (isNext ? size - position : position) - (isAvenue ? 4.6 : 2.8)
    }

    private func paintHouse(_ color: inout Color, _ u: Float, _ v: Float, _ block: UInt32) {
        let column = floor(u / Self.lot.width)
        let isLower = v >= Self.lot.height
        let lot = Hash.mix(column, isLower ? 7 : 3, block)
        guard lot % 8 != 0 else { return }
        func share(_ shift: UInt32) -> Float { Float((lot >> shift) & 15) / 15 }
        let a = u - Float(column) * Self.lot.width
        // Houses stand back from the street in front of them and share a yard behind.
        let b = isLower ? Self.block.height - v : v
        let left = (column == 0 ? 6.5 : 1) + share(8) * 2
        let right = (column == 3 ? 9.5 : 15) - share(12) * 2
        let back = 12 + share(16) * 7
        let inside = min(min(a - left, right - a), min(b - 6.5, back - b)) / worldPerPixel
        guard inside > -0.5 else { return }
        color.mix(Palette.buildingEdge, min(inside + 0.5, 1))
        if inside > 0.5 { color.mix(Palette.building, min(inside - 0.5, 1)) }
    }

    /// Draws the crowns of trees.
    func paintTrees(_ color: inout Color, x: Double, y: Double, salt: UInt32) {
        let spacing = Self.treeSpacing
        let (column, row) = (floor(x / spacing), floor(y / spacing))
        let bits = Hash.mix(column, row, salt)
        guard bits & 3 != 0 else { return }
        let centerX = Float(3 + (bits >> 4) % 6)
        let centerY = Float(3 + (bits >> 8) % 6)
        let dx = Float(x - Double(column) * spacing) - centerX
        let dy = Float(y - Double(row) * spacing) - centerY
        let inside = (Float(2 + (bits >> 12) % 2) - (dx * dx + dy * dy).squareRoot()) / worldPerPixel
        color.mix(Color(0x9BC38B), min(max(inside + 0.5, 0), 1))
    }
}

/// Largest integer not above a number: `rounded(.down)` is a call into the C library.
@inline(__always)
func floor(_ value: Float) -> Int32 {
    let whole = Int32(truncatingIfNeeded: Int64(value))
    return Float(whole) > value ? whole - 1 : whole
}

/// The same for places in the world.
@inline(__always)
func floor(_ value: Double) -> Int32 {
    let whole = Int32(truncatingIfNeeded: Int64(value))
    return Double(whole) > value ? whole - 1 : whole
}
