import CTileImages

/// How decoded samples become red, green, blue and alpha.
struct TIFFColours: Sendable {
    private let layout: TIFFLayout
    private let planes: [Int]
    /// The samples of the channels that are written: the drawn ones.
    private let drawn: [Int]
    /// What each code of a drawn sample becomes, by channel. Empty for bytes that stay, and for numbers of more than 16 bits.
    private let tables: [[UInt8]]
    private let range: TIFFRange
    private let noData: Double?

    init(_ level: TIFFLevel) {
        layout = level.layout
        planes = layout.planes
        drawn = layout.drawn
        noData = layout.alphaSample == nil ? level.noData : nil
        let own = level.range ?? TIFFRange(of: layout)
        range = layout.photometric == 0 ? TIFFRange(black: own.white, white: own.black) : own
        let isPlainBytes =
            layout.bits == 8 && layout.sampleFormat == 1 && range == TIFFRange(black: 0, white: 255)
        if layout.photometric == 3 {
            let count = level.palette.count / 3
            tables = (0..<3).map { Array(level.palette[$0 * count..<($0 + 1) * count]) }
        } else if layout.bits > 16 || isPlainBytes {
            tables = []
        } else {
            tables = .init(repeating: Self.table(layout, range), count: drawn.count)
        }
    }

    /// Bytes in memory.
    var byteCount: Int { (layout.photometric == 3 ? 3 : 1) * (tables.first?.count ?? 0) }

    private static func table(_ layout: TIFFLayout, _ range: TIFFRange) -> [UInt8] {
        let bits = layout.bits
        var shades = [UInt8](repeating: 0, count: 4 << bits)
        // A code of other sizes begins with the highest bit of two bytes.
        var codes = (0..<1 << bits).map { bits == 16 ? UInt16($0) : UInt16($0 << (16 - bits)).bigEndian }
        codes.withUnsafeMutableBytes { codes in
            shades.withUnsafeMutableBufferPointer { shades in
                guard let code = codes.bindMemory(to: UInt8.self).baseAddress, let shade = shades.baseAddress else {
                    return
                }
                let format = Int32(layout.sampleFormat)
                // Codes of 1, 2, 4 and 8 bits are the first of 16, 8, 4 and 2 in their two bytes.
                for number in 0..<1 << bits {
                    ti_take_numbers(
                        code + 2 * number,
                        Int32(bits),
                        format,
                        1,
                        0,
                        1,
                        range.black,
                        range.white,
                        shade + 4 * number
                    )
                }
            }
        }
        return stride(from: 0, to: shades.count, by: 4).map { shades[$0] }
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
                let (samples, bits, step, first) = place(of: sample, rows)
                if tables.isEmpty {
                    take(sample, rows, range, count, to: row + channel)
                } else {
                    ti_take_codes(samples, bits, step, first, count, tables[channel], row + channel)
                }
            }
        }
        if drawn.count == 1 { ti_spread_grey(row, count) }
        if drawn.count == 4 { ti_from_inks(row, count) }
        if let sample = layout.alphaSample {
            let opaque = TIFFRange(of: layout).white
            take(sample, rows, TIFFRange(black: 0, white: opaque), count, to: row + 3)
        }
        guard let noData else { return }
        for (number, sample) in Set(drawn).enumerated() {
            let (samples, bits, step, first) = place(of: sample, rows)
            let format = Int32(layout.sampleFormat)
            ti_mark_data(samples, bits, format, step, first, count, noData, number == 0 ? 1 : 0, row)
        }
    }

    /// Reads the numbers of the drawn samples of a row, of every so many pixels.
    func numbers(_ rows: [UnsafePointer<UInt8>], _ width: Int, every: Int) -> [Double] {
        Set(drawn).flatMap { sample in
            let (samples, bits, step, first) = place(of: sample, rows)
            let count = (width - 1) / every + 1
            return [Double](unsafeUninitializedCapacity: count) { numbers, length in
                ti_numbers(samples, bits, Int32(layout.sampleFormat), step * every, first, count, numbers.baseAddress)
                length = count
            }
        }
    }

    private func take(
        _ sample: Int,
        _ rows: [UnsafePointer<UInt8>],
        _ range: TIFFRange,
        _ count: Int,
        to channel: UnsafeMutablePointer<UInt8>
    ) {
        let (samples, bits, step, first) = place(of: sample, rows)
        let format = Int32(layout.sampleFormat)
        ti_take_numbers(samples, bits, format, step, first, count, range.black, range.white, channel)
    }

    /// Where a sample is: its row, bits, the samples from one pixel to the next, and its place in a pixel.
    private func place(of sample: Int, _ rows: [UnsafePointer<UInt8>]) -> (UnsafePointer<UInt8>, Int32, Int, Int) {
        guard layout.isPlanar else { return (rows[0], Int32(layout.bits), layout.samples, sample) }
        return (rows[planes.firstIndex(of: sample) ?? 0], Int32(layout.bits), 1, 0)
    }
}
