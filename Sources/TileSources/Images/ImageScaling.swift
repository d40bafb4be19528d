import TileCache

/// Rows of an image that is scaled to a tile, from the top. Straight red, green, blue and alpha.
///
/// An image of twice the tile's sides, or four times and so on, is halved as the cache halves levels. A pixel of others is
/// the mean of the area that it covers or, if the image is smaller, lies between the nearest pixels. Colours are weighted
/// with their alpha.
final class ScaledRows {
    /// Reads the next row of the image; `false` if it cannot be decoded.
    typealias Read = (UnsafeMutablePointer<UInt8>) -> Bool

    private let read: Read
    private let halvings: [Halving]
    private let columns: [Weights]
    private let rows: [Weights]
    private let weighsAlpha: Bool
    private let width: Int
    /// A row of the halved image.
    private let source: UnsafeMutablePointer<UInt8>
    /// The last two rows as wide as the tile. Colours are multiplied by alpha if that weighs.
    private var before: [Float]
    private var last: [Float]
    private var sum: [Float]
    /// Rows of the halved image read so far.
    private var taken = 0
    private var made = 0

    /// Whether an image can be scaled to a tile: of the same shape and at most as large as a tile may be.
    static func allows(_ width: Int, _ height: Int, as tileWidth: Int, _ tileHeight: Int) -> Bool {
        max(width, height) <= TileSourceOptions.tileSizes.upperBound && width * tileHeight == height * tileWidth
    }

    /// - Parameters:
    ///   - width: Of the image, as its height.
    ///   - tileWidth: Of the rows, as their number `tileHeight`.
    ///   - weighsAlpha: Whether colours of transparent pixels do not count.
    init(
        width: Int,
        height: Int,
        tileWidth: Int,
        tileHeight: Int,
        weighsAlpha: Bool,
        read: @escaping Read
    ) {
        var (wide, high) = (width, height)
        var halvings: [Halving] = []
        let halver = ImageHalver(format: .rgba8, alpha: weighsAlpha ? .straight : .ignored, downsampling: .linear)
        let isPower = wide % tileWidth == 0 && (wide / tileWidth).nonzeroBitCount == 1 && high % tileHeight == 0
        while let halver, isPower, wide > tileWidth {
            halvings.append(Halving(halver: halver, width: wide))
            (wide, high) = (wide / 2, high / 2)
        }
        self.read = read
        self.halvings = halvings
        self.weighsAlpha = weighsAlpha
        self.width = wide
        columns = Weights.of(wide, to: tileWidth)
        rows = Weights.of(high, to: tileHeight)
        source = .allocate(capacity: 4 * wide)
        let empty = [Float](repeating: 0, count: 4 * tileWidth)
        (before, last, sum) = (empty, empty, empty)
    }

    deinit { source.deallocate() }

    /// Writes the next row; `false` if the image cannot be decoded. Call it as often as the tile has rows.
    func next(into row: UnsafeMutablePointer<UInt8>) -> Bool {
        let own = rows[made]
        made += 1
        if columns.count == width, own.values == [1] { return halved(halvings.count, into: row) }
        for index in sum.indices { sum[index] = 0 }
        for (offset, weight) in own.values.enumerated() {
            let number = own.first + offset
            while taken <= number {
                guard halved(halvings.count, into: source) else { return false }
                swap(&before, &last)
                narrow(into: &last)
                taken += 1
            }
            let from = number == taken - 1 ? last : before
            for index in sum.indices { sum[index] += weight * from[index] }
        }
        for column in columns.indices {
            let alpha = sum[4 * column + 3]
            let divisor = weighsAlpha ? max(alpha, .leastNonzeroMagnitude) : 1
            for channel in 0..<3 {
                row[4 * column + channel] = Self.rounded(sum[4 * column + channel] / divisor)
            }
            row[4 * column + 3] = Self.rounded(alpha)
        }
        return true
    }

    private static func rounded(_ value: Float) -> UInt8 { UInt8(min(max(value + 0.5, 0), 255)) }

    /// Reads a row that has been halved so often.
    private func halved(_ count: Int, into row: UnsafeMutablePointer<UInt8>) -> Bool {
        guard count > 0 else { return read(row) }
        let own = halvings[count - 1]
        guard halved(count - 1, into: own.rows), halved(count - 1, into: own.rows + 4 * own.width) else { return false }
        own.halver.halve(
            UnsafeRawBufferPointer(start: own.rows, count: 8 * own.width),
            width: own.width,
            height: 2,
            into: UnsafeMutableRawBufferPointer(start: row, count: 2 * own.width),
            isPortable: false
        )
        return true
    }

    /// Makes a row as wide as the tile.
    private func narrow(into target: inout [Float]) {
        for (column, own) in columns.enumerated() {
            var (red, green, blue, alpha) = (Float(0), Float(0), Float(0), Float(0))
            for (offset, weight) in own.values.enumerated() {
                let pixel = source + 4 * (own.first + offset)
                let weighed = weighsAlpha ? weight * Float(pixel[3]) : weight
                red += weighed * Float(pixel[0])
                green += weighed * Float(pixel[1])
                blue += weighed * Float(pixel[2])
                alpha += weight * Float(pixel[3])
            }
            let place = 4 * column
            (target[place], target[place + 1], target[place + 2], target[place + 3]) = (red, green, blue, alpha)
        }
    }

    /// Two rows that become one.
    private final class Halving {
        let halver: ImageHalver
        let width: Int
        let rows: UnsafeMutablePointer<UInt8>

        init(halver: ImageHalver, width: Int) {
            (self.halver, self.width) = (halver, width)
            rows = .allocate(capacity: 8 * width)
        }

        deinit { rows.deallocate() }
    }

    /// Shares of consecutive pixels in one of the result.
    struct Weights: Equatable {
        var first: Int
        var values: [Float]

        /// Shares for each pixel of a side of `count` made of a side of `length`.
        static func of(_ length: Int, to count: Int) -> [Weights] {
            (0..<count).map { index in
                // In units of 1/count of a pixel of the image (or half of them), so that the shares are exact.
                if length >= count {
                    let (start, end) = (index * length, (index + 1) * length)
                    let (first, last) = (start / count, (end - 1) / count)
                    let values = (first...last).map { pixel in
                        Float(min(end, (pixel + 1) * count) - max(start, pixel * count)) / Float(length)
                    }
                    return Weights(first: first, values: values)
                }
                let middle = (2 * index + 1) * length - count
                guard middle > 0 else { return Weights(first: 0, values: [1]) }
                let (first, rest) = (middle / (2 * count), middle % (2 * count))
                guard first < length - 1, rest > 0 else { return Weights(first: min(first, length - 1), values: [1]) }
                let share = Float(rest) / Float(2 * count)
                return Weights(first: first, values: [1 - share, share])
            }
        }
    }
}
