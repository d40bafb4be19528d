/// Which picture of a TIFF is drawn, which of its bands, and in which range.
public struct TIFFTileOptions: Hashable, Sendable {
    /// Number of a directory in the file's chain, from 1, as GDAL counts them (`GTIFF_DIR`): smaller versions, masks and
    /// pictures in strips count, and are drawn if they are chosen. Default: `nil`, the first picture.
    public var page: Int?
    /// Number of a picture of several pages, from 1: an image of OME-XML, one of tifffile's series, else any picture that
    /// is no smaller version or mask of another. Its first page is drawn; an image that is in another file is an error.
    /// Default: `nil`. Not together with ``page``.
    public var series: Int?
    /// Numbers of the samples of a pixel that are drawn, from 1: one as grey, or three as red, green and blue. Default:
    /// empty, as the file states. Not of palettes, YCbCr, CIELab and tiles that are JPEG or WebP files.
    public var bands: [Int]
    /// The numbers that are drawn as black and white, and what is between them. Default: `nil`, as the file states (see
    /// ``TIFFTileSource``). Of grey and of red, green and blue on all levels, unless tiles are JPEG or WebP files or JPEG
    /// 2000 of YCbCr.
    public var range: ClosedRange<Double>?
    /// Number of coarse levels that the cache makes of a picture without smaller versions, 0 or more; fewer if its tiles
    /// cannot be halved so often. Each takes four times as many tiles for one of its own. Default: `nil`, until one tile
    /// shows all of the picture, at most 5.
    public var synthesizedLevels: Int?
    /// Tiles whose places are in memory; another number in tests.
    var heldTiles = TIFFLevel.largestCount

    /// Creates options.
    public init(
        page: Int? = nil,
        series: Int? = nil,
        bands: [Int] = [],
        range: ClosedRange<Double>? = nil,
        synthesizedLevels: Int? = nil
    ) {
        (self.page, self.series, self.bands) = (page, series, bands)
        (self.range, self.synthesizedLevels) = (range, synthesizedLevels)
    }
}

extension TIFFTileOptions {
    /// Levels that are made unless a number is given: a tile of the coarsest one takes 1,024.
    static let usualLevels = 5

    private static let keys = ["page", "series", "band", "range", "synthesized"]

    /// Splits an address into that of the file and what follows `#`, joined by `&`: `page=2`, `series=2`, `band=4,3,2`,
    /// `range=0,3000`, `synthesized=3`. A `#` that none of these words follows belongs to the file's name.
    ///
    /// - Returns: `nil` if a value is none.
    static func split(_ text: String) -> (place: String, options: TIFFTileOptions)? {
        let own = TIFFTileOptions()
        guard let mark = text.lastIndex(of: "#") else { return (text, own) }
        let parts = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
            .map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
        guard parts.contains(where: { $0.count == 2 && keys.contains(String($0[0])) }) else { return (text, own) }
        var options = own
        for part in parts { guard part.count == 2, options.set(String(part[0]), part[1]) else { return nil } }
        let place = String(text[..<mark])
        return place.isEmpty || options.page != nil && options.series != nil ? nil : (place, options)
    }

    /// Takes a value; returns whether it is one.
    private mutating func set(_ key: String, _ value: Substring) -> Bool {
        let words = value.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Int($0) }.filter { $0 >= (key == "synthesized" ? 0 : 1) }
        if key == "range" {
            let ends = words.compactMap { Double($0) }.filter(\.isFinite)
            guard words.count == 2, ends.count == 2, ends[0] < ends[1] else { return false }
            range = ends[0]...ends[1]
            return true
        }
        guard numbers.count == words.count, numbers.count == 1 || key == "band" && numbers.count == 3 else {
            return false
        }
        switch key {
        case "page": page = numbers[0]
        case "series": series = numbers[0]
        case "band": bands = numbers
        case "synthesized": synthesizedLevels = numbers[0]
        default: return false
        }
        return true
    }

    /// What follows the file in an address; empty if nothing is chosen.
    var fragment: String {
        let words = [
            page.map { "page=\($0)" }, series.map { "series=\($0)" },
            bands.isEmpty ? nil : "band=\(bands.map { "\($0)" }.joined(separator: ","))",
            range.map { "range=\($0.lowerBound),\($0.upperBound)" }, synthesizedLevels.map { "synthesized=\($0)" },
        ].compactMap(\.self)
        return words.isEmpty ? "" : "#" + words.joined(separator: "&")
    }

    /// Part of a data set: what affects pixels.
    var names: [String] { fragment.isEmpty ? [] : [fragment] }

    /// Refuses what no file has.
    func check(_ subject: String) throws(TileSourceError) {
        guard bands.isEmpty || [1, 3].contains(bands.count) && bands.allSatisfy({ $0 > 0 }) else {
            throw TileSourceError(subject, "one or three numbers of bands from 1 were expected, not \(bands)")
        }
        guard page ?? 1 > 0, series ?? 1 > 0, page == nil || series == nil, synthesizedLevels ?? 0 >= 0 else {
            throw TileSourceError(subject, "a page or a series from 1 was expected, and 0 levels or more")
        }
        guard range.map({ $0.lowerBound < $0.upperBound && ($0.upperBound - $0.lowerBound).isFinite }) ?? true else {
            throw TileSourceError(subject, "a range of two finite numbers was expected, the second larger")
        }
    }
}
