/// Contents of a `.dzi` file. Its XML element `Image` has `TileSize`, `Overlap` and `Format`, and `Size` within it.
struct DeepZoomDescriptor: Equatable {
    var width: Int
    var height: Int
    var tileSize: Int
    var overlap: Int
    var fileExtension: String

    /// Maximum size of a descriptor; a usual one takes 200 bytes.
    static let largestFile = 1 << 20

    /// Parses a descriptor.
    init(_ bytes: [UInt8], path: String) throws(TileSourceError) {
        let root = try XMLElement(bytes, path: path, limit: 1000)
        guard let image = root.first("Image") else {
            throw TileSourceError(path, "an XML element Image was expected, with TileSize, Overlap and Format")
        }
        guard let size = root.first("Size") else {
            throw TileSourceError(path, "an XML element Size was expected in Image, with Width and Height")
        }
        func number(_ name: String, of element: XMLElement, _ range: ClosedRange<Int>) throws(TileSourceError) -> Int {
            guard let text = element.attributes[name] else {
                throw TileSourceError(path, "\(element.name) has no attribute \(name)")
            }
            guard let value = Int(text), range.contains(value) else {
                throw TileSourceError(
                    path,
                    "\(name) of \(range.lowerBound) to \(range.upperBound) was expected, not \"\(text.prefix(40))\""
                )
            }
            return value
        }
        tileSize = try number("TileSize", of: image, 1...4096)
        overlap = try number("Overlap", of: image, 0...1024)
        width = try number("Width", of: size, 1...1 << 30)
        height = try number("Height", of: size, 1...1 << 30)
        let format = image.attributes["Format"] ?? ""
        guard TileFolderLayout.extensions.contains(format.lowercased()) else {
            throw TileSourceError(path, "Format png, jpg, jpeg or webp was expected, not \"\(format.prefix(40))\"")
        }
        fileExtension = format
    }
}
