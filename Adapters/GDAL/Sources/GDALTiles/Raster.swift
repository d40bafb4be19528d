import CGDAL
import TileSources

/// A raster that GDAL has open, for one thread at a time, as GDAL wants it.
///
/// Unchecked: it is used by one thread, or in the source's list of unused ones.
final class Raster: @unchecked Sendable {
    /// What is drawn of a raster's bands.
    struct Plan: Equatable, Sendable {
        /// Numbers of the bands, from 1: one of grey or of a palette, or red, green and blue.
        var colours: [Int32]
        /// Number of the band of alpha.
        var alpha: Int32?
        /// Whether pixels without data have a mask.
        var hasMask = false
        /// Red, green, blue and alpha of the numbers of a palette.
        var palette: [[UInt8]]?
        /// The numbers that are black and white; `nil` for bytes, which are drawn as they are.
        var range: ClosedRange<Double>?
    }

    private let dataset: GDALDatasetH
    let width: Int
    let height: Int

    /// - Throws: `TileSourceError` if GDAL cannot open it.
    init(_ path: String) throws(TileSourceError) {
        guard let dataset = tile_gdal_open(path) else {
            let message = Self.message
            throw TileSourceError(
                path,
                "a raster that GDAL \(Self.version) reads was expected\(message.isEmpty ? "" : ": \(message)")"
            )
        }
        self.dataset = dataset
        (width, height) = (Int(GDALGetRasterXSize(dataset)), Int(GDALGetRasterYSize(dataset)))
        guard GDALGetRasterCount(dataset) > 0, width > 0, height > 0 else {
            throw TileSourceError(
                path,
                "a raster with a band was expected; a part of it may be one (see gdalinfo)"
            )
        }
    }

    deinit { GDALClose(dataset) }

    static var version: String { GDALVersionInfo("RELEASE_NAME").map { String(cString: $0) } ?? "" }

    /// GDAL's last error of this thread.
    static var message: String { CPLGetLastErrorMsg().map { String(cString: $0) } ?? "" }

    /// GDAL's name of the format.
    var driver: String {
        GDALGetDatasetDriver(dataset).flatMap { GDALGetDriverShortName($0) }.map { String(cString: $0) }
            ?? ""
    }

    private func band(_ number: Int32) -> GDALRasterBandH? { GDALGetRasterBand(dataset, number) }

    /// Size of the blocks that the file has.
    var blockSize: (width: Int, height: Int) {
        var (wide, high): (Int32, Int32) = (0, 0)
        GDALGetBlockSize(band(1), &wide, &high)
        return (Int(wide), Int(high))
    }

    /// Sizes of the overviews of a band, by their numbers.
    func overviews(of number: Int32) -> [(width: Int, height: Int)] {
        (0..<max(GDALGetOverviewCount(band(number)), 0)).map { index in
            let overview = GDALGetOverview(band(number), index)
            return (Int(GDALGetRasterBandXSize(overview)), Int(GDALGetRasterBandYSize(overview)))
        }
    }

    /// Chooses what is drawn: the bands that are said to be red, green and blue, else the first three, or the first.
    func plan(_ path: String) throws(TileSourceError) -> Plan {
        let count = GDALGetRasterCount(dataset)
        func first(_ wanted: GDALColorInterp) -> Int32? {
            (1...count).first { GDALGetRasterColorInterpretation(band($0)) == wanted }
        }
        let named = [GCI_RedBand, GCI_GreenBand, GCI_BlueBand].compactMap(first)
        let alpha = first(GCI_AlphaBand)
        let others = (1...count).filter { $0 != alpha }
        guard let only = others.first else {
            throw TileSourceError(path, "a band besides alpha was expected")
        }
        var plan = Plan(
            colours: named.count == 3 ? named : others.count >= 3 ? Array(others[..<3]) : [only],
            alpha: alpha
        )
        if plan.colours.count == 1, let table = GDALGetRasterColorTable(band(only)) {
            plan.palette = (0..<min(GDALGetColorEntryCount(table), 256)).map { index in
                var entry = GDALColorEntry()
                GDALGetColorEntryAsRGB(table, index, &entry)
                return [entry.c1, entry.c2, entry.c3, entry.c4].map { UInt8(clamping: $0) }
            }
        }
        // 1: all pixels are valid. 4: alpha, which is a band.
        plan.hasMask = alpha == nil && GDALGetMaskFlags(band(plan.colours[0])) & 5 == 0
        guard plan.palette == nil,
            plan.colours.contains(where: { GDALGetRasterDataType(band($0)) != GDT_Byte })
        else {
            return plan
        }
        var ends: [Double] = []
        for number in plan.colours {
            var (least, largest) = (0.0, 0.0)
            guard tile_gdal_range(band(number), &least, &largest) != 0 else { continue }
            ends += [least, largest]
        }
        guard let black = ends.min(), let white = ends.max(), black.isFinite, white.isFinite else {
            throw TileSourceError(path, "numbers were expected in its bands; there is no pixel with data")
        }
        plan.range = black...max(white, black.nextUp)
        return plan
    }

    /// Reads a part of the raster, or of an overview, as red, green, blue and alpha, straight.
    ///
    /// - Parameters:
    ///   - overview: Number of the overview; `nil` for the raster.
    ///   - stride: Bytes from a row of the target to the next.
    /// - Returns: Whether it could be read.
    func read(
        _ plan: Plan,
        overview: Int32?,
        x: Int,
        y: Int,
        width: Int,
        height: Int,
        into target: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) -> Bool {
        func part(_ number: Int32) -> GDALRasterBandH? {
            overview.map { GDALGetOverview(band(number), $0) } ?? band(number)
        }
        func take(_ band: GDALRasterBandH?, _ channel: Int) -> Bool {
            guard let band else { return false }
            return tile_gdal_read(
                band,
                Int32(x),
                Int32(y),
                Int32(width),
                Int32(height),
                target + channel,
                GDT_Byte,
                4,
                Int32(stride)
            ) != 0
        }
        func each(_ body: (UnsafeMutablePointer<UInt8>) -> Void) {
            for row in 0..<height { for column in 0..<width { body(target + row * stride + 4 * column) } }
        }
        if plan.alpha == nil, !plan.hasMask { each { $0[3] = 255 } }
        if let alpha = plan.alpha, !take(part(alpha), 3) { return false }
        if plan.hasMask, !take(GDALGetMaskBand(part(plan.colours[0])), 3) { return false }
        for (channel, number) in plan.colours.enumerated() {
            let isRead =
                plan.range.map { range in
                    Self.readNumbers(part(number), range, (x, y, width, height), into: target + channel, stride: stride)
                } ?? take(part(number), channel)
            guard isRead else { return false }
        }
        if let palette = plan.palette {
            each { pixel in
                let colour = Int(pixel[0]) < palette.count ? palette[Int(pixel[0])] : [0, 0, 0, 0]
                for channel in 0..<3 { pixel[channel] = colour[channel] }
                pixel[3] = min(pixel[3], colour[3])
            }
        } else if plan.colours.count == 1 {
            each { pixel in (pixel[1], pixel[2]) = (pixel[0], pixel[0]) }
        }
        return true
    }

    /// Reads a part of a band as numbers, and writes them as bytes, one for each pixel of four.
    private static func readNumbers(
        _ band: GDALRasterBandH?,
        _ range: ClosedRange<Double>,
        _ part: (x: Int, y: Int, width: Int, height: Int),
        into target: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) -> Bool {
        guard let band else { return false }
        var numbers = [Float](repeating: 0, count: part.width * part.height)
        let isRead = tile_gdal_read(
            band,
            Int32(part.x),
            Int32(part.y),
            Int32(part.width),
            Int32(part.height),
            &numbers,
            GDT_Float32,
            4,
            Int32(4 * part.width)
        )
        guard isRead != 0 else { return false }
        let scale = 255 / (range.upperBound - range.lowerBound)
        for row in 0..<part.height {
            for column in 0..<part.width {
                let value = (Double(numbers[row * part.width + column]) - range.lowerBound) * scale
                // What is no number is black.
                target[row * stride + 4 * column] = value > 0 ? UInt8(min(value, 255).rounded()) : 0
            }
        }
        return true
    }
}
