/// Metadata of a TIFF file's largest image.
public struct TIFFMetadata: Hashable, Sendable {
    /// The field `ImageDescription`: OME-XML, or the properties of a scanned slide.
    public var description: String?
    /// GDAL's value of pixels without data, as it is written.
    public var noData: String?
    /// GeoTIFF's size of a pixel, in the units of the map: x, y, z.
    public var pixelScale: [Double] = []
    /// GeoTIFF's points of the picture and of the map, six numbers each.
    public var tiePoints: [Double] = []
    /// GeoTIFF's matrix from the picture to the map, by rows.
    public var transformation: [Double] = []
    /// GeoTIFF's `GeoKeyDirectory`: four numbers each.
    public var geoKeys: [Int] = []
    /// Numbers that ``geoKeys`` refer to.
    public var geoNumbers: [Double] = []
    /// Text that ``geoKeys`` refer to.
    public var geoText: String?

    /// Creates metadata without any field.
    public init() {}

    /// Bytes of text and numbers in memory.
    var byteCount: Int {
        let texts = [description, noData, geoText].map { $0?.utf8.count ?? 0 }
        let numbers = [pixelScale, tiePoints, transformation, geoNumbers].map(\.count) + [geoKeys.count]
        return texts.reduce(0, +) + 8 * numbers.reduce(0, +)
    }
}

extension TIFFMetadata {
    /// Reads a directory's fields.
    init(_ directory: TIFFDirectory, _ bytes: inout TIFFBytes) throws(TileSourceError) {
        self.init()
        description = try directory.text(.imageDescription, &bytes)
        noData = try directory.text(.gdalNoData, &bytes)
        pixelScale = try directory.reals(.modelPixelScale, &bytes) ?? []
        tiePoints = try directory.reals(.modelTiepoint, &bytes) ?? []
        transformation = try directory.reals(.modelTransformation, &bytes) ?? []
        geoKeys = (try directory.numbers(.geoKeyDirectory, atMost: 4096, &bytes) ?? []).map { Int(clamping: $0) }
        geoNumbers = try directory.reals(.geoDoubleParams, &bytes) ?? []
        geoText = try directory.text(.geoAsciiParams, &bytes)
    }
}
