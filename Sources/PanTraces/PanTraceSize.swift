public import TileCache

extension PanTraceHeader.Size {
    /// Maximum width and height of a viewport, in screen pixels.
    static let largestViewport = 1e6
    /// Maximum width and height of a world, in world pixels: those of a pyramid.
    static let largestWorld = Double(TilePyramid.maximumGridSide)

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

    /// Whether it is valid as a viewport.
    package var isViewport: Bool { min(width, height) > 0 && max(width, height) <= Self.largestViewport }

    /// Whether it is valid as a world.
    var isWorld: Bool {
        min(width, height) >= 1 && max(width, height) <= Self.largestWorld
            && width == width.rounded() && height == height.rounded()
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
