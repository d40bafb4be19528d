public import TileCache

extension PanTraceHeader.Size {
    /// The largest width and height of a viewport, in screen pixels.
    static let largestViewport = 1e6
    /// The largest width and height of a world, in world pixels: those of a pyramid.
    static let largestWorld = Double(TilePyramid.maximumGridSide)

    /// Reads the size of a viewport as headers and flags write it.
    ///
    /// - Parameter text: `WIDTHxHEIGHT` in screen pixels, larger than 0 and at most a million each. Anything else
    ///   gives `nil`.
    public init?(viewport text: String) {
        self.init(text)
        guard isViewport else { return nil }
    }

    /// Reads the size of a world as headers and flags write it.
    ///
    /// - Parameter text: `WIDTHxHEIGHT` in world pixels, whole numbers from 1 to 2^40. Anything else gives `nil`.
    public init?(world text: String) {
        self.init(text)
        guard isWorld else { return nil }
    }

    /// Whether it can be the size of a viewport.
    package var isViewport: Bool { min(width, height) > 0 && max(width, height) <= Self.largestViewport }

    /// Whether it can be the size of a world.
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
