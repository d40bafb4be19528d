/// Where tiles lie, as it is written on a command line: `xyz:FOLDER`, ...
public enum TileSourceAddress: Hashable, Sendable, CustomStringConvertible {
    /// A folder of files z/x/y, row 0 at the top.
    case xyz(String)
    /// A folder of files z/x/y, row 0 at the bottom.
    case tms(String)

    /// What can be written, for messages.
    public static let forms = "xyz:DIR or tms:DIR"

    /// Reads an address; `nil` where it is none of ``forms``.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = String(text[text.index(after: colon)...])
        guard !rest.isEmpty else { return nil }
        switch text[..<colon] {
        case "xyz": self = .xyz(rest)
        case "tms": self = .tms(rest)
        default: return nil
        }
    }

    /// As it is written on a command line.
    public var description: String {
        switch self {
        case .xyz(let path): "xyz:\(path)"
        case .tms(let path): "tms:\(path)"
        }
    }

    /// Opens the source.
    ///
    /// - Throws: ``TileSourceError``, which names the file or address and what was expected of it.
    public func open(_ options: SourceOptions = SourceOptions()) throws(TileSourceError) -> any PyramidSource {
        switch self {
        case .xyz(let path): try FolderTileSource(path: path, options: options)
        case .tms(let path): try FolderTileSource(path: path, rows: .fromBottom, options: options)
        }
    }
}
