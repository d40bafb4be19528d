import TileCache

extension PanTraceHeader.Size {
    /// Parses the size of a viewport in headers and flags.
    ///
    /// - Parameter text: `WIDTHxHEIGHT` in screen pixels, larger than 0 and at most a million each; `nil` for other
    ///   text.
    public init?(viewport text: String) {
        self.init(text)
        guard isViewport else { return nil }
    }

    /// Parses the size of a world in headers and flags.
    ///
    /// - Parameter text: `WIDTHxHEIGHT` in world pixels, integers from 1 to 2^40; `nil` for other text.
    public init?(world text: String) {
        self.init(text)
        guard isWorld else { return nil }
    }

    private init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let numbers = parts.compactMap { part in
            Array(part.utf8).withUnsafeBytes { DecimalNumber($0)?.double }
        }
        guard numbers.count == 2, numbers.allSatisfy(\.isFinite) else { return nil }
        self.init(width: numbers[0], height: numbers[1])
    }
}
