/// The address of WMTS capabilities, and what its fragment chooses of them.
struct WMTSChoice: Equatable {
    /// Without the fragment.
    let address: String
    private(set) var layer: String?
    private(set) var matrixSet: String?
    private(set) var style: String?
    private(set) var format: String?
    /// Parameters for the addresses of tiles, wherever they are: `key=K`.
    private(set) var query: [String] = []

    /// Parameters of the address that ask for capabilities, or that the addresses of tiles have themselves.
    private static let own: Set<String> = [
        "service", "request", "version", "acceptversions", "acceptformats", "sections", "updatesequence", "layer",
        "style", "format", "tilematrixset", "tilematrix", "tilerow", "tilecol",
    ]

    /// Other parameters of the address, such as a key, for tiles of the same server.
    var ownQuery: [String] {
        guard let mark = address.firstIndex(of: "?") else { return [] }
        return address[address.index(after: mark)...].split(separator: "&")
            .filter { !Self.own.contains(Self.name($0)) }.map(String.init)
    }

    /// Name of a parameter, in lower case.
    static func name(_ parameter: some StringProtocol) -> String { parameter.prefix { $0 != "=" }.lowercased() }

    /// Parses `https://server/capabilities.xml#layer=L&matrixSet=M&style=S&format=image/png&query=key%3DK`.
    init(_ text: String) throws(TileSourceError) {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        address = String(parts[0])
        try HTTPAddress.check(address, text)
        for part in parts.dropFirst().flatMap({ $0.split(separator: "&") }) {
            let pair = part.split(separator: "=", maxSplits: 1)
            let value = pair.count == 2 ? PercentCoding.decode(pair[1]) : nil
            switch (pair.first.map { $0.lowercased() }, value) {
            case ("layer", let value?): layer = value
            case ("matrixset", let value?): matrixSet = value
            case ("style", let value?): style = value
            case ("format", let value?): format = value
            case ("query", let value?) where value.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 35 }:
                query = value.split(separator: "&").map(String.init)
            default:
                throw TileSourceError(
                    text,
                    "layer=, matrixSet=, style=, format= or query= was expected after #, joined by &, not \"\(part)\""
                )
            }
        }
    }
}
