/// A group of parallel fields in a square of the world. Parcels of a few colours with hedges.
struct FieldGroup {
    /// Size of the square in world pixels. A power of two, so that no cell of a frame's grid lies in two squares.
    private static let size = 1024.0

    private let left: Double
    private let top: Double
    private let worldPerPixel: Double
    private let bits: UInt32
    private let slope: Float
    private let width: Float
    private let height: Float

    /// Finds the group of a point of the world, in world pixels.
    init(x: Double, y: Double, worldPerPixel: Double, salt: UInt32) {
        let (column, row) = (floor(x / Self.size), floor(y / Self.size))
        bits = Hash.mix(column, row, salt)
        left = Double(column) * Self.size
        top = Double(row) * Self.size
        self.worldPerPixel = worldPerPixel
        slope = Float(Int32(bits & 15) - 7) / 12
        width = Float(56 + (bits >> 4) % 5 * 17)
        height = Float(1024 / (6 + (bits >> 8) % 6))
    }

    /// Draws the part of the fields that covers a pixel of the level's plane.
    func paint(_ color: inout Color, x: Int, y: Int) {
        let localX = Float((Double(x) + 0.5) * worldPerPixel - left)
        let localY = Float((Double(y) + 0.5) * worldPerPixel - top)
        // Slanted, not turned: the upper and lower edges of a group stay straight.
        let u = localX + slope * localY
        let (column, row) = (floor(u / width), floor(localY / height))
        let (inU, inV) = (u - Float(column) * width, localY - Float(row) * height)
        switch Hash.mix(column, row, bits) % 9 {
        case 0: color.mix(Color(0xEAE6C8), 0.8)
        case 1: color.mix(Color(0xE6EAD0), 0.8)
        case 2: color.mix(Color(0xF0E8D2), 0.8)
        case 3: color.mix(Color(0xDFE8C8), 0.8)
        case 4: color.mix(Color(0xEBE3D0), 0.8)
        default: break
        }
        let hedge = min(min(inU, width - inU), min(inV, height - inV)) / Float(worldPerPixel)
        if hedge < 1 { color.mix(Color(0xCFD2B0), (1 - hedge) * 0.8) }
    }
}
