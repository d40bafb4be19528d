import CTileImages
import TileCache

/// A TIFF in strips, decoded from the top: what a large image is cut from.
struct TIFFStrips: ImageRowSource {
    private let level: TIFFLevel
    private let numbers: String?
    private let reader: ByteRangeReader

    static let hint =
        "convert it, with \"gdal_translate -of COG\" or \"vips tiffsave --tile --pyramid\""

    /// - Parameter limit: Maximum bytes to fetch from a server.
    init(_ file: inout TIFFFile, limit: Int, _ tiff: TIFFTileOptions = TIFFTileOptions()) throws(TileSourceError) {
        let level = try TIFFLevel(file.main, file.format, bands: tiff.bands, &file.bytes)
        reader = file.reader
        let bytes = level.encodedBytes.all
        guard !reader.isRemote || bytes <= limit else {
            throw TileSourceError(
                reader.name,
                "its \(bytes) bytes are in strips, all of which would be fetched; the image memory limit is \(limit) "
                    + "bytes: \(Self.hint)"
            )
        }
        var levels = [level]
        numbers = try TIFFLevel.setNumbers(&levels, file.main, range: tiff.range, &file.bytes)
        self.level = levels[0]
    }

    var name: String { reader.name }
    var width: Int { level.width }
    var height: Int { level.height }
    var hint: String { ": \(Self.hint)" }
    var isStorable: Bool { reader.isStorable }
    var warning: String? {
        let warnings = [reader.warning, numbers].compactMap(\.self)
        return warnings.isEmpty ? nil : warnings.joined(separator: "; ")
    }

    /// A strip as it is in the file and decoded: a JPEG may be progressive. Some are copied for the decoder, once or twice.
    var wholeBytes: Int {
        let layout = level.layout
        let copies = 1 + (level.isOfImages || layout.fillOrder != 1 ? 1 : 0) + (layout.isConverted ? 1 : 0)
        let bytes = level.isOfImages ? level.tileWidth * (layout.compression == 7 ? 2 * layout.samples : 8) : 0
        let samples = layout.rowBytes(level.tileWidth, samples: layout.samples)
        let decoded = layout.isConverted ? 7 * level.tileWidth : samples
        return copies * level.encodedBytes.largest * layout.planes.count
            + level.tileHeight * (level.isOfImages ? bytes : decoded)
            + layout.ownBytes(level.tileWidth, level.tileHeight)
    }

    func decode(
        _ options: TileSourceOptions,
        limit: Int,
        into cutter: ImageCutter,
        goesOn: (Int) -> Bool
    ) throws(TileSourceError) {
        var row = [UInt8](repeating: 255, count: width * 4)
        let (scratch, colours) = (ScratchMemory(), TIFFColours(level))
        for strip in 0..<level.rows {
            let first = strip * level.tileHeight
            let count = min(level.tileHeight, height - first)
            let planes = try planes(of: strip)
            /// Passes a row on; returns whether to continue.
            func pass(_ number: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) throws(TileSourceError) {
                cutter.withNextRow { target in
                    guard let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                    write(start)
                }
                if let failure = cutter.rowIsThere() { throw TileSourceError(name, failure.message) }
                guard goesOn(number) else {
                    throw TileSourceError(name, "it was cancelled at row \(number) of \(height)")
                }
            }
            // What is not in the file is black, or transparent if there is alpha.
            guard let planes else {
                let bytes = options.format.bytesPerPixel ?? 4
                for y in 0..<count { try pass(first + y + 1) { $0.update(repeating: 0, count: width * bytes) } }
                continue
            }
            if level.isOfImages {
                let file = level.file(planes[0])
                // Some writers make the JPEG of the last strip as high as the others; libtiff leaves the rest out, too.
                let heights = count...level.tileHeight
                let image = try StripImage(file, width: width, heights: heights, limit: limit, name(of: strip))
                let writer = TilePixelWriter(options)
                for y in 0..<count {
                    try image.next(&row)
                    try pass(first + y + 1) { writer.write(&row, width, alpha: level.layout.alpha, to: $0) }
                }
            } else {
                let tile = TIFFTile(level, options, scratch, rows: count)
                let decoded: [ScratchBytes]
                do { decoded = try tile.decode(planes) } catch { throw TileSourceError(name(of: strip), error.message) }
                for y in 0..<count { try pass(first + y + 1) { tile.write(decoded, colours, y, width, &row, to: $0) } }
            }
        }
    }

    private func name(of strip: Int) -> String { "\(name): strip \(strip)" }

    private func planes(of strip: Int) throws(TileSourceError) -> [RangeBytes]? {
        let ranges: [Range<Int>]?
        do { ranges = try level.ranges(0, strip, size: reader.size) } catch {
            throw TileSourceError(name(of: strip), error.message)
        }
        guard let ranges else { return nil }
        var planes: [RangeBytes] = []
        for range in ranges { planes.append(try reader.bytesNow(range)) }
        return planes
    }
}

/// A strip that is a JPEG or WebP file.
private final class StripImage {
    private let file: UnsafeMutableBufferPointer<UInt8>
    private let reader: OpaquePointer
    private let name: String

    init(
        _ bytes: RangeBytes,
        width: Int,
        heights: ClosedRange<Int>,
        limit: Int,
        _ name: String
    ) throws(TileSourceError) {
        // The decoder reads it until its end.
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        bytes.withBytes { _ = file.initialize(from: $0) }
        var (info, error) = (ti_info(), ti_error())
        guard let reader = ti_open_memory(file.baseAddress, file.count, &info, &error) else {
            file.deallocate()
            throw TileSourceError(name, error.text)
        }
        (self.file, self.reader, self.name) = (file, reader, name)
        guard info.width == width, heights.contains(Int(info.height)) else {
            let found = "\(info.width) x \(info.height)"
            throw TileSourceError(
                name,
                "an image of \(width) x \(heights.lowerBound) pixels was expected, not \(found)"
            )
        }
        guard ti_start(reader, UInt64(limit), &error) == ti_ok else { throw TileSourceError(name, error.text) }
    }

    deinit {
        ti_close(reader)
        file.deallocate()
    }

    func next(_ row: inout [UInt8]) throws(TileSourceError) {
        var error = ti_error()
        guard ti_row(reader, &row, &error) == ti_ok else { throw TileSourceError(name, error.text) }
    }
}
