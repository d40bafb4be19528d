import TileCache

/// The numbers that are drawn as black and as white.
struct TIFFRange: Equatable, Sendable {
    var black: Double
    var white: Double

    /// Parts of a picture that are read for a range.
    fileprivate static let mostTiles = 8
    /// Numbers of such a part, of each drawn sample: every so many pixels of every so many rows.
    fileprivate static let mostNumbers = 8192
    /// Encoded bytes of such a part.
    fileprivate static let mostBytes = 16 << 20

    init(black: Double, white: Double) { (self.black, self.white) = (black, white) }

    /// The range of a format: all whole numbers, or 0 to 1.
    init(of layout: TIFFLayout) {
        switch layout.sampleFormat {
        case 3: self.init(black: 0, white: 1)
        case 2: self.init(black: -exponent(layout.bits - 1), white: exponent(layout.bits - 1) - 1)
        default: self.init(black: 0, white: exponent(layout.bits) - 1)
        }
        func exponent(_ bits: Int) -> Double { Double(sign: .plus, exponent: bits, significand: 1) }
    }

    /// Finds the range of a picture: what the file states, or for other than whole numbers of up to 16 bits without a sign
    /// the percentiles 2 and 98 of its coarsest level. The text says so.
    ///
    /// - Returns: `nil` if it is the format's own.
    static func find(
        _ directory: TIFFDirectory,
        coarsest level: TIFFLevel,
        in reader: ByteRangeReader,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> (TIFFRange, String)? {
        let layout = level.layout
        guard layout.hasRange, layout.bits > 8 || layout.sampleFormat != 1 else { return nil }
        let whole = TIFFRange(of: layout)
        var found: (range: TIFFRange, origin: String)?
        if let range = try statistics(directory, layout, &bytes) { found = (range, "GDAL's statistics in the file") }
        for (low, high) in [(TIFFTag.sMinSampleValue, TIFFTag.sMaxSampleValue), (.minSampleValue, .maxSampleValue)] {
            guard directory.isInFile(low, bytes), directory.isInFile(high, bytes) else { continue }
            let (lows, highs) = (try directory.values(low, &bytes) ?? [], try directory.values(high, &bytes) ?? [])
            if let range = TIFFRange(lows, highs) { found = found ?? (range, "\(low.name) and \(high.name)") }
        }
        if found == nil, layout.sampleFormat != 1 || layout.bits > 16, let range = try level.measured(reader) {
            // Pictures with a point are often 0 to 1, with a little more.
            let isUnit = layout.sampleFormat == 3 && range.black > -0.25 && range.white < 1.25
            // A picture of one number is black.
            let own = range.white > range.black ? range : TIFFRange(black: range.black, white: range.black + 1)
            if !isUnit { found = (own, "the percentiles 2 and 98 of its coarsest level") }
        }
        guard let found, found.range != whole else { return nil }
        let (black, white) = (rounded(found.range.black), rounded(found.range.white))
        let shades = layout.photometric == 0 ? "white to black" : "black to white"
        return (found.range, "its numbers from \(black) to \(white) are drawn from \(shades), by \(found.origin)")
    }

    private init?(_ lows: [Double], _ highs: [Double]) {
        guard let black = lows.min(), let white = highs.max(), white > black, (white - black).isFinite else {
            return nil
        }
        self.init(black: black, white: white)
    }

    /// Up to six digits.
    private static func rounded(_ number: Double) -> String {
        guard number != 0 else { return "0" }
        guard number.isFinite else { return "\(number)" }
        let digits = 5 - Int(log10Floor(abs(number)))
        guard (-15...15).contains(digits) else { return "\(number)" }
        var scale = 1.0
        for _ in 0..<abs(digits) { scale *= 10 }
        let text = digits < 0 ? (number / scale).rounded() * scale : (number * scale).rounded() / scale
        return text == text.rounded() && abs(text) < 1e15 ? "\(Int(text))" : "\(text)"
    }

    private static func log10Floor(_ number: Double) -> Int {
        var (left, digits) = (number, 0)
        while left >= 10 { (left, digits) = (left / 10, digits + 1) }
        while left < 1 { (left, digits) = (left * 10, digits - 1) }
        return digits
    }

    /// The statistics that GDAL writes, of the drawn bands.
    private static func statistics(
        _ directory: TIFFDirectory,
        _ layout: TIFFLayout,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> TIFFRange? {
        guard directory.isInFile(.gdalMetadata, bytes),
            let text = try directory.raw(.gdalMetadata, atMost: 1 << 20, &bytes),
            let root = try? XMLElement(Array(text.prefix { $0 != 0 }), path: bytes.name, limit: 100_000)
        else { return nil }
        func values(_ name: String) -> [Double] {
            root.children("Item").filter {
                $0.attributes["name"] == name && layout.drawn.contains(Int($0.attributes["sample"] ?? "0") ?? 0)
            }.compactMap { Double($0.text) }
        }
        return TIFFRange(values("STATISTICS_MINIMUM"), values("STATISTICS_MAXIMUM"))
    }
}

extension TIFFLevel {
    /// The percentiles 2 and 98 of up to 8 tiles or strips; `nil` if none can be decoded. Stored tiles depend on them, so
    /// that all that can be read is.
    ///
    /// - Throws: If the file cannot be read.
    fileprivate func measured(_ reader: ByteRangeReader) throws(TileSourceError) -> TIFFRange? {
        let scratch = ScratchMemory()
        var numbers: [Double] = []
        let count = columns * rows
        for number in 0..<min(count, TIFFRange.mostTiles) {
            let tile = number * count / min(count, TIFFRange.mostTiles)
            numbers += try self.numbers(tile % columns, tile / columns, reader, scratch)
        }
        guard !numbers.isEmpty else { return nil }
        numbers.sort()
        let (black, white) = (numbers[(numbers.count - 1) / 50], numbers[numbers.count - 1 - (numbers.count - 1) / 50])
        guard (white - black).isFinite else { return nil }
        return TIFFRange(black: black, white: white)
    }

    /// Some numbers of a tile or strip, without those that are no data.
    private func numbers(
        _ column: Int,
        _ row: Int,
        _ reader: ByteRangeReader,
        _ scratch: ScratchMemory
    ) throws(TileSourceError) -> [Double] {
        var places = places(column, row)
        var tables: [RangeBytes] = []
        for range in places.lacks.flatMap(\.ranges) { tables.append(try reader.bytesNow(range)) }
        places.take(tables)
        guard let ranges = try? ranges(column, row, places, size: reader.size),
            ranges.reduce(0, { $0 + $1.count }) <= TIFFRange.mostBytes
        else { return [] }
        let (wide, high) = (min(tileWidth, width - column * tileWidth), min(tileHeight, height - row * tileHeight))
        let decoder = TIFFTile(self, TileSourceOptions(), scratch, rows: isTiled ? nil : high)
        var planes: [RangeBytes] = []
        // The mask's, if there is one, is the last.
        for range in ranges.prefix(layout.planes.count) { planes.append(try reader.bytesNow(range)) }
        guard let decoded = try? decoder.decode(planes) else { return [] }
        // Rows that are longer than that are thinned out themselves.
        let every = (wide - 1) / TIFFRange.mostNumbers + 1
        let step = max(wide / every * high / TIFFRange.mostNumbers, 1)
        return Swift.stride(from: 0, to: high, by: step).flatMap {
            decoder.numbers(decoded, $0, wide, every: every)
        }.filter {
            $0.isFinite && $0 != noData
        }
    }
}
