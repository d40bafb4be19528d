import TileCache

/// Header of a pan trace: the `# key: value` lines before its samples.
///
/// Readers refuse a trace whose header has values out of the ranges below.
public struct PanTraceHeader: Hashable, Sendable {
    /// A width and a height in pixels, as the header writes them: `1000x470`.
    public struct Size: Hashable, Sendable {
        /// Width in pixels: of the screen for a viewport, of the world for a world.
        public var width: Double
        /// Height in pixels: of the screen for a viewport, of the world for a world.
        public var height: Double

        /// Creates a size without checking it.
        @inlinable
        public init(width: Double, height: Double) {
            self.width = width
            self.height = height
        }
    }

    /// A header line with a key unknown to this version.
    public struct Entry: Hashable, Sendable {
        /// The text before the first colon, without the spaces around it.
        public var key: String
        /// The text after the first colon, without the spaces around it.
        public var value: String

        /// Creates an entry. Line breaks cannot be written in a header; they become spaces.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Size of the view in screen pixels, larger than 0 and at most a million each. `nil` if the trace has none; the
    /// reader's flags must then set it.
    public var viewport: Size?
    /// Size of the world in world pixels, integers from 1 to 2^40; `nil` if the trace has none.
    public var world: Size?
    /// Whether the world repeats horizontally.
    public var wrapsX: Bool
    /// Width and height of a tile in its own pixels, 1 to 65,536. Default: 256.
    public var tileSize: Int
    /// Name of the view if several were recorded together; otherwise `nil`.
    public var viewName: String?
    /// Lines unknown to this version, in the order of the file; kept, and written again.
    public var otherEntries: [Entry]

    /// Creates a header.
    ///
    /// - Parameters:
    ///   - viewport: Size of the view in screen pixels. Default: `nil`, which a recorder replaces by that of the first
    ///     viewport.
    ///   - world: Size of the world in world pixels, integers. Default: `nil`.
    ///   - wrapsX: Whether the world wraps horizontally. Default: `false`.
    ///   - tileSize: Width and height of a tile in its own pixels. Default: 256.
    ///   - viewName: Name of the view if there are several. Default: `nil`.
    ///   - otherEntries: Further lines to keep. Default: none.
    public init(
        viewport: Size? = nil,
        world: Size? = nil,
        wrapsX: Bool = false,
        tileSize: Int = 256,
        viewName: String? = nil,
        otherEntries: [Entry] = []
    ) {
        self.viewport = viewport
        self.world = world
        self.wrapsX = wrapsX
        self.tileSize = tileSize
        self.viewName = viewName
        self.otherEntries = otherEntries
    }
}

extension PanTraceHeader {
    /// Valid sizes of a tile.
    package static let tileSizes = 1...65_536
}

extension PanTraceHeader.Size {
    /// Whether the size is valid as a viewport.
    package var isViewport: Bool { width > 0 && height > 0 && width <= 1e6 && height <= 1e6 }

    /// Whether the size is valid as a world: at most as large as the world of a pyramid.
    package var isWorld: Bool {
        let most = Double(TilePyramid.maximumGridSide)
        return width >= 1 && height >= 1 && width <= most && height <= most && width == width.rounded()
            && height == height.rounded()
    }
}
