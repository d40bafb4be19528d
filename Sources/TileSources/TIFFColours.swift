import CTileImages

/// How decoded samples become red, green, blue and alpha.
struct TIFFColours: Sendable {
    private let layout: TIFFLayout
    private let planes: [Int]
    /// The samples of the channels that are written: the drawn ones.
    private let drawn: [Int]
    /// What each code of a drawn sample becomes, by channel. Empty for bytes that stay, and for numbers with a point.
    private let tables: [[UInt8]]
    /// What each code of alpha becomes.
    private let alphaTable: [UInt8]

    private static let bytes = codes(8)
    private static let shorts = codes(16)

    init(_ level: TIFFLevel) {
        layout = level.layout
        planes = layout.planes
        drawn = layout.drawn
        let codes = Self.table(layout)
        alphaTable = codes
        if layout.photometric == 3 {
            let count = level.palette.count / 3
            tables = (0..<3).map { Array(level.palette[$0 * count..<($0 + 1) * count]) }
        } else if codes.isEmpty || layout.bits == 8 && layout.photometric != 0 {
            tables = []
        } else {
            let own = layout.photometric == 0 ? codes.map { 255 - $0 } : codes
            tables = .init(repeating: own, count: drawn.count)
        }
    }

    /// What whole numbers become, rounded.
    private static func codes(_ bits: Int) -> [UInt8] {
        let most = 1 << bits - 1
        return (0...most).map { UInt8(($0 * 510 + most) / (2 * most)) }
    }

    private static func table(_ layout: TIFFLayout) -> [UInt8] {
        switch (layout.sampleFormat, layout.bits) {
        case (3, _): []
        case (_, 8): bytes
        case (_, 16): shorts
        default: codes(layout.bits)
        }
    }

    /// Writes pixels of a row.
    ///
    /// - Parameters:
    ///   - rows: Decoded samples, by plane of ``TIFFLayout/planes``.
    ///   - row: 4 bytes a pixel, at first opaque.
    func write(_ rows: [UnsafePointer<UInt8>], _ count: Int, to row: UnsafeMutablePointer<UInt8>) {
        if tables.isEmpty, layout.bits == 8, !layout.isPlanar, drawn.last == drawn.count - 1 {
            ti_take_bytes(rows[0], layout.samples, count, Int32(drawn.count), row)
        } else {
            for (channel, sample) in drawn.enumerated() {
                take(sample, rows, tables.isEmpty ? alphaTable : tables[channel], count, to: row + channel)
            }
        }
        if drawn.count == 1 { ti_spread_grey(row, count) }
        if drawn.count == 4 { ti_from_inks(row, count) }
        if let sample = layout.alphaSample { take(sample, rows, alphaTable, count, isAlpha: true, to: row + 3) }
    }

    private func take(
        _ sample: Int,
        _ rows: [UnsafePointer<UInt8>],
        _ table: [UInt8],
        _ count: Int,
        isAlpha: Bool = false,
        to channel: UnsafeMutablePointer<UInt8>
    ) {
        let row = rows[layout.isPlanar ? planes.firstIndex(of: sample) ?? 0 : 0]
        let (step, first) = layout.isPlanar ? (1, 0) : (layout.samples, sample)
        let bits = Int32(layout.bits)
        if layout.sampleFormat == 3 {
            let isInverse = layout.photometric == 0 && !isAlpha
            ti_take_reals(row, bits, step, first, count, isInverse ? 1 : 0, isInverse ? 0 : 1, channel)
        } else {
            ti_take_codes(row, bits, step, first, count, table, channel)
        }
    }
}
