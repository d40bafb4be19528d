/// What a TIFF file tells besides pixels, of its largest image.
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
}
