import CTileImages

/// How decoded samples become red, green, blue and alpha.
struct TIFFColours: Sendable {
    private let layout: TIFFLayout
    /// The samples of the channels that are written: the drawn ones.
    private let drawn: [Int]
    /// What each code of a drawn sample becomes: of a palette all reds, then greens and blues, else of all channels alike.
    /// Empty for bytes that stay, and for numbers of more than 16 bits.
    private let table: [UInt8]
    /// Whether samples are bytes that stay.
    private let isPlain: Bool
    private let range: TIFFRange
    private let noData: Double?
    /// Bytes of the table in memory, if it is its own.
    let byteCount: Int

    /// The colours of all levels. Levels of the same samples share a table.
    ///
    /// - Parameter range: The numbers that are black and white. Default: the levels' own.
    static func all(_ levels: [TIFFLevel], range: TIFFRange? = nil) -> [TIFFColours] {
        levels.reduce(into: []) { $0.append(TIFFColours($1, range: range, like: $0.last)) }
    }

    init(_ level: TIFFLevel, range given: TIFFRange? = nil, like other: TIFFColours? = nil) {
        layout = level.layout
        drawn = layout.drawn
        noData = layout.alphaSample == nil && level.mask.isEmpty ? level.noData : nil
        let own = given ?? level.range ?? TIFFRange(of: layout)
        range = layout.photometric == 0 ? TIFFRange(black: own.white, white: own.black) : own
        let isByte = layout.bits == 8 && layout.sampleFormat == 1 && layout.photometric != 3
        isPlain = isByte && range == TIFFRange(black: 0, white: 255)
        var isOwn = false
        if layout.photometric == 3 {
            table = level.palette
        } else if layout.bits > 16 || isPlain {
            table = []
        } else if let other, other.layout.photometric != 3, other.range == range, other.layout.bits == layout.bits,
            other.layout.sampleFormat == layout.sampleFormat
        {
            table = other.table
        } else {
            (table, isOwn) = (Self.table(layout, range), true)
        }
        byteCount = isOwn ? table.count : 0
    }

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
                let (depth, format) = (Int32(bits), Int32(layout.sampleFormat))
                // Codes of 1, 2, 4 and 8 bits are the first of 16, 8, 4 and 2 in their two bytes.
                for number in 0..<1 << bits {
                    let place = code + 2 * number
                    ti_take_numbers(place, depth, format, 1, 0, 1, range.black, range.white, shade + 4 * number)
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
        if layout.isYCC {
            // Its decoder has made colours of them.
            ti_take_bytes(rows[0], 3, count, 3, row)
        } else if isPlain, !layout.isPlanar, drawn == Array(0..<drawn.count) {
            ti_take_bytes(rows[0], layout.samples, count, Int32(drawn.count), row)
        } else {
            for channel in drawn.indices { writeChannel(channel, rows, count, to: row + channel) }
        }
        if drawn.count == 1 { ti_spread_grey(row, count) }
        if drawn.count == 4 { ti_from_inks(row, count) }
        if let sample = layout.alphaSample {
            let opaque = TIFFRange(of: layout).white
            take(sample, rows, TIFFRange(black: 0, white: opaque), count, to: row + 3)
        }
        guard let noData else { return }
        for (number, sample) in Set(drawn).enumerated() {
            let (samples, bits, step, first) = layout.place(of: sample, rows)
            let format = Int32(layout.sampleFormat)
            ti_mark_data(samples, bits, format, step, first, count, noData, number == 0 ? 1 : 0, row)
        }
    }

    /// Writes one channel of a row: every fourth byte.
    func writeChannel(
        _ channel: Int,
        _ rows: [UnsafePointer<UInt8>],
        _ count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        let (samples, bits, step, first) = layout.place(of: drawn[channel], rows)
        guard !isPlain else { return ti_take_bytes(samples + first, step, count, 1, target) }
        guard !table.isEmpty else { return take(drawn[channel], rows, range, count, to: target) }
        table.withUnsafeBufferPointer { table in
            let start = layout.photometric == 3 ? channel * table.count / 3 : 0
            ti_take_codes(samples, bits, step, first, count, table.baseAddress.map { $0 + start }, target)
        }
    }

    private func take(
        _ sample: Int,
        _ rows: [UnsafePointer<UInt8>],
        _ range: TIFFRange,
        _ count: Int,
        to channel: UnsafeMutablePointer<UInt8>
    ) {
        let (samples, bits, step, first) = layout.place(of: sample, rows)
        let format = Int32(layout.sampleFormat)
        ti_take_numbers(samples, bits, format, step, first, count, range.black, range.white, channel)
    }
}
