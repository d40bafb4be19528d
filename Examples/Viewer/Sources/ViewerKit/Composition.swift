import TileCache

/// Composes placements in memory, as a reference for a renderer: slow, and without any graphics library.
public struct Composition: Sendable {
    /// Pixels of a slot.
    public struct Slot: Sendable {
        /// Columns of its tile.
        public var width: Int
        /// Rows of its tile.
        public var height: Int
        /// Four bytes a pixel in the order red, green, blue, alpha; rows packed.
        public var pixels: [UInt8]

        /// Creates a slot's pixels.
        ///
        /// - Precondition: There are four bytes for each pixel.
        public init(width: Int, height: Int, pixels: [UInt8]) {
            precondition(
                width > 0 && height > 0 && pixels.count == width * height * 4,
                "the pixels do not fit the size"
            )
            (self.width, self.height, self.pixels) = (width, height, pixels)
        }
    }

    /// How far a renderer's pixel may differ.
    private enum Tolerance: UInt8 {
        /// No tile is drawn there.
        case background
        case none, one
        /// The pixel's middle lies on an edge, and renderers differ in the side that they take.
        case any
    }

    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Four bytes a pixel, rows from the top.
    public private(set) var pixels: [UInt8]
    private var tolerances: [UInt8]

    /// Distance from an edge, in pixels, within which a pixel of a rotated tile is not compared: eight times the steps
    /// to which renderers round vertices.
    private static let edge = 8.0 / 256

    /// Creates a picture of one colour.
    ///
    /// - Precondition: Both sizes are 1 or more.
    public init(width: Int, height: Int, background: Colour) {
        precondition(width > 0 && height > 0, "a picture has pixels")
        (self.width, self.height) = (width, height)
        pixels = [UInt8](repeating: 255, count: width * height * 4)
        for index in 0..<width * height {
            pixels[index * 4] = background.red
            pixels[index * 4 + 1] = background.green
            pixels[index * 4 + 2] = background.blue
        }
        tolerances = [UInt8](repeating: Tolerance.background.rawValue, count: width * height)
    }

    /// Draws an opaque tile. Its alpha is ignored.
    public mutating func draw(_ quad: TileQuad, _ slot: Slot) {
        let origin = quad.corners[0]
        let (right, down) = (quad.corners[1] - origin, quad.corners[3] - origin)
        let lengths = SIMD2((right * right).sum().squareRoot(), (down * down).sum().squareRoot())
        guard lengths.x > 0, lengths.y > 0 else { return }
        let (across, along) = (right / (lengths.x * lengths.x), down / (lengths.y * lengths.y))
        let isRotated = right.y != 0 || down.x != 0
        let (x, y) = (quad.corners.map(\.x), quad.corners.map(\.y))
        let columns = Self.range(x.min() ?? 0, x.max() ?? 0, count: width)
        let rows = Self.range(y.min() ?? 0, y.max() ?? 0, count: height)
        let edges = SIMD2(Self.edge, Self.edge) / lengths
        pixels.withUnsafeMutableBufferPointer { pixels in
            slot.pixels.withUnsafeBufferPointer { texels in
                for row in rows {
                    for column in columns {
                        let place = SIMD2(Double(column) + 0.5, Double(row) + 0.5) - origin
                        let share = SIMD2((place * across).sum(), (place * along).sum())
                        let index = row * width + column
                        if isRotated, Self.isNear(share, edges) { tolerances[index] = Tolerance.any.rawValue }
                        guard share.x >= 0, share.y >= 0, share.x < 1, share.y < 1 else { continue }
                        let texel = SIMD2(
                            quad.part.minX + share.x * quad.part.width,
                            quad.part.minY + share.y * quad.part.height
                        )
                        if quad.isNearest {
                            let at = SIMD2(Int(texel.x.rounded(.down)), Int(texel.y.rounded(.down)))
                            for channel in 0..<3 {
                                pixels[index * 4 + channel] = texels[Self.index(at, slot) + channel]
                            }
                            tolerances[index] = max(tolerances[index], Tolerance.none.rawValue)
                        } else {
                            Self.blend(texel, slot, texels, to: pixels, at: index * 4)
                            tolerances[index] = max(tolerances[index], Tolerance.one.rawValue)
                        }
                    }
                }
            }
        }
    }

    private static func range(_ from: Double, _ to: Double, count: Int) -> Range<Int> {
        let low = Int(min(max((from - 1).rounded(.down), 0), Double(count)))
        return low..<max(Int(min(max((to + 1).rounded(.up), 0), Double(count))), low)
    }

    private static func isNear(_ share: SIMD2<Double>, _ edges: SIMD2<Double>) -> Bool {
        guard share.x > -edges.x, share.y > -edges.y, share.x < 1 + edges.x, share.y < 1 + edges.y else { return false }
        return share.x < edges.x || share.y < edges.y || share.x > 1 - edges.x || share.y > 1 - edges.y
    }

    private static func index(_ at: SIMD2<Int>, _ slot: Slot) -> Int {
        (min(max(at.y, 0), slot.height - 1) * slot.width + min(max(at.x, 0), slot.width - 1)) * 4
    }

    /// Weights the four nearest pixels.
    private static func blend(
        _ texel: SIMD2<Double>,
        _ slot: Slot,
        _ texels: UnsafeBufferPointer<UInt8>,
        to pixels: UnsafeMutableBufferPointer<UInt8>,
        at index: Int
    ) {
        let place = texel - 0.5
        let (x, y) = (place.x.rounded(.down), place.y.rounded(.down))
        let (right, down) = (place.x - x, place.y - y)
        let at = SIMD2(Int(x), Int(y))
        let upperLeft = Self.index(at, slot)
        let upperRight = Self.index(SIMD2(at.x + 1, at.y), slot)
        let lowerLeft = Self.index(SIMD2(at.x, at.y + 1), slot)
        let lowerRight = Self.index(SIMD2(at.x + 1, at.y + 1), slot)
        for channel in 0..<3 {
            let upper = Double(texels[upperLeft + channel]) * (1 - right) + Double(texels[upperRight + channel]) * right
            let lower = Double(texels[lowerLeft + channel]) * (1 - right) + Double(texels[lowerRight + channel]) * right
            pixels[index + channel] = UInt8((upper * (1 - down) + lower * down).rounded())
        }
    }

    /// Difference to a renderer's pixels.
    public struct Difference: Hashable, Sendable {
        /// Pixels without a tile, which are to be equal.
        public var background = 0
        /// Pixels of tiles that are to be equal, and those of them, or without a tile, that are not.
        public var exact = 0, wrongExact = 0
        /// Pixels that may differ by 1 in each channel, and those that differ by more.
        public var weighted = 0, wrongWeighted = 0
        /// Pixels at edges of rotated tiles, which are not compared.
        public var uncertain = 0

        /// Whether no pixel is wrong.
        public var isNone: Bool { wrongExact == 0 && wrongWeighted == 0 }

        /// Creates a difference without pixels.
        public init() {}

        /// Adds the pixels of another frame.
        public static func += (a: inout Difference, b: Difference) {
            a.background += b.background
            a.exact += b.exact
            a.wrongExact += b.wrongExact
            a.weighted += b.weighted
            a.wrongWeighted += b.wrongWeighted
            a.uncertain += b.uncertain
        }
    }

    /// Compares red, green and blue with a renderer's pixels.
    ///
    /// - Precondition: As many pixels as this picture has, four bytes each.
    public func difference(to other: [UInt8]) -> Difference {
        precondition(other.count == pixels.count, "the pictures differ in size")
        var result = Difference()
        for index in 0..<width * height {
            var largest = 0
            for channel in index * 4..<index * 4 + 3 {
                largest = max(largest, abs(Int(pixels[channel]) - Int(other[channel])))
            }
            switch Tolerance(rawValue: tolerances[index]) {
            case .background, nil:
                result.background += 1
                result.wrongExact += largest > 0 ? 1 : 0
            case .some(.none):
                result.exact += 1
                result.wrongExact += largest > 0 ? 1 : 0
            case .one:
                result.weighted += 1
                result.wrongWeighted += largest > 1 ? 1 : 0
            case .any: result.uncertain += 1
            }
        }
        return result
    }
}
