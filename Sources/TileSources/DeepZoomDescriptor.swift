import CTileExpat

/// Contents of a `.dzi` file: an XML element `Image` with `TileSize`, `Overlap` and `Format`, and `Size` within it.
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
        let elements = try Self.elements(bytes, path: path)
        guard let image = elements.first(where: { $0.name == "Image" }) else {
            throw TileSourceError(path, "an XML element Image was expected, with TileSize, Overlap and Format")
        }
        guard let size = elements.first(where: { $0.name == "Size" }) else {
            throw TileSourceError(path, "an XML element Size was expected in Image, with Width and Height")
        }
        func number(_ name: String, of element: Element, _ range: ClosedRange<Int>) throws(TileSourceError) -> Int {
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
        guard ["png", "jpg", "jpeg", "webp"].contains(format) else {
            throw TileSourceError(path, "Format png, jpg, jpeg or webp was expected, not \"\(format.prefix(40))\"")
        }
        fileExtension = format
    }

    private struct Element {
        var name: String
        var attributes: [String: String]
    }

    private final class Collector {
        var elements: [Element] = []
    }

    private static func elements(_ bytes: [UInt8], path: String) throws(TileSourceError) -> [Element] {
        guard let parser = XML_ParserCreate(nil) else { throw TileSourceError(path, "there is no memory") }
        defer { XML_ParserFree(parser) }
        let collector = Collector()
        XML_SetUserData(parser, Unmanaged.passUnretained(collector).toOpaque())
        XML_SetStartElementHandler(parser) { context, name, attributes in
            guard let context, let name else { return }
            let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
            guard collector.elements.count < 100 else { return }
            var element = Element(name: DeepZoomDescriptor.localName(name), attributes: [:])
            var index = 0
            while let key = attributes?[index], let value = attributes?[index + 1] {
                element.attributes[String(cString: key)] = String(cString: value)
                index += 2
            }
            collector.elements.append(element)
        }
        let status = withExtendedLifetime(collector) {
            bytes.withUnsafeBytes { buffer in
                let text = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                return XML_Parse(parser, text, Int32(clamping: buffer.count), 1)
            }
        }
        guard status == XML_STATUS_OK else {
            let message = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "no XML"
            throw TileSourceError(path, "line \(XML_GetCurrentLineNumber(parser)): XML was expected: \(message)")
        }
        return collector.elements
    }

    /// A name without its prefix.
    private static func localName(_ name: UnsafePointer<XML_Char>) -> String {
        let text = String(cString: name)
        return text.lastIndex(of: ":").map { String(text[text.index(after: $0)...]) } ?? text
    }
}
