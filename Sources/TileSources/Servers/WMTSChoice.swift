/// The address of WMTS capabilities, and what its fragment chooses of them.
struct WMTSChoice: Equatable {
    /// Without the fragment.
    let address: String
    private(set) var layer: String?
    private(set) var matrixSet: String?
    private(set) var style: String?
    private(set) var format: String?

    /// Parses `https://server/capabilities.xml#layer=L&matrixSet=M&style=S&format=image/png`.
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
            default:
                throw TileSourceError(
                    text,
                    "layer=, matrixSet=, style= or format= was expected after #, joined by &, not \"\(part)\""
                )
            }
        }
    }
}
