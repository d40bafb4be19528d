import CTileExpat

/// An element of an XML document, with names without their prefixes.
struct XMLElement {
    let name: String
    let attributes: [String: String]
    /// Text of the element itself, without space at its ends.
    private(set) var text = ""
    private(set) var children: [XMLElement] = []

    /// Levels of nesting that are read; deeper ones are an error.
    static let deepest = 64

    private init(_ name: String, _ attributes: [String: String]) { (self.name, self.attributes) = (name, attributes) }

    /// Parses a document.
    ///
    /// - Parameter limit: Maximum number of elements and attributes.
    /// - Throws: ``TileSourceError`` with the line, also for documents that declare entities or attributes.
    init(_ bytes: [UInt8], path: String, limit: Int) throws(TileSourceError) {
        guard let parser = XML_ParserCreate(nil) else { throw TileSourceError(path, "there is no memory") }
        defer { XML_ParserFree(parser) }
        let builder = Builder(parser, limit: limit)
        XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        XML_SetElementHandler(
            parser,
            { Builder.of($0)?.begin($1, $2) },
            { context, _ in Builder.of(context)?.end() }
        )
        XML_SetCharacterDataHandler(parser) { Builder.of($0)?.add($1, $2) }
        XML_SetEntityDeclHandler(parser) { context, _, _, _, _, _, _, _, _ in
            Builder.of(context)?.stop("no declaration of an entity")
        }
        // Each element would have a copy of the declared default values: memory far above the document's size.
        XML_SetAttlistDeclHandler(parser) { context, _, _, _, _, _ in
            Builder.of(context)?.stop("no declaration of an attribute")
        }
        let status = withExtendedLifetime(builder) {
            bytes.withUnsafeBytes { buffer in
                let text = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                return XML_Parse(parser, text, Int32(clamping: buffer.count), 1)
            }
        }
        guard status == XML_STATUS_OK, let root = builder.root else {
            let message = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "no XML"
            let line = XML_GetCurrentLineNumber(parser)
            throw TileSourceError(path, "line \(line): XML was expected: \(builder.refusal ?? message)")
        }
        self = root
    }

    /// The first child of a name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    func children(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// The first element of a name in document order, this one included.
    func first(_ name: String) -> XMLElement? {
        if self.name == name { return self }
        for child in children { if let found = child.first(name) { return found } }
        return nil
    }

    private final class Builder {
        private let parser: XML_Parser
        private var left: Int
        /// Elements that have begun, outermost first.
        private var open: [XMLElement] = []
        /// Text of each, before it is decoded.
        private var texts: [[UInt8]] = []
        private(set) var root: XMLElement?
        private(set) var refusal: String?

        init(_ parser: XML_Parser, limit: Int) { (self.parser, left) = (parser, limit) }

        static func of(_ context: UnsafeMutableRawPointer?) -> Builder? {
            context.map { Unmanaged<Builder>.fromOpaque($0).takeUnretainedValue() }
        }

        func stop(_ reason: String) {
            refusal = reason
            XML_StopParser(parser, XML_Bool(XML_FALSE))
        }

        func begin(_ name: UnsafePointer<XML_Char>?, _ values: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
            guard refusal == nil, let name else { return }
            left -= 1
            var attributes: [String: String] = [:]
            var index = 0
            while let key = values?[index], let value = values?[index + 1] {
                attributes[Self.localName(key)] = String(cString: value)
                index += 2
                left -= 1
            }
            guard left >= 0 else { return stop("fewer elements and attributes") }
            guard open.count < XMLElement.deepest else {
                return stop("at most \(XMLElement.deepest) levels of nesting")
            }
            open.append(XMLElement(Self.localName(name), attributes))
            texts.append([])
        }

        func add(_ text: UnsafePointer<XML_Char>?, _ count: Int32) {
            guard refusal == nil, let text, !texts.isEmpty else { return }
            texts[texts.count - 1] += UnsafeRawBufferPointer(start: text, count: Int(count))
        }

        func end() {
            guard refusal == nil, var element = open.popLast(), let text = texts.popLast() else { return }
            if let first = text.firstIndex(where: { $0 > 32 }), let last = text.lastIndex(where: { $0 > 32 }) {
                element.text = String(decoding: text[first...last], as: UTF8.self)
            }
            if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
        }

        /// A name without its prefix.
        private static func localName(_ name: UnsafePointer<XML_Char>) -> String {
            let text = String(cString: name)
            return text.lastIndex(of: ":").map { String(text[text.index(after: $0)...]) } ?? text
        }
    }
}
