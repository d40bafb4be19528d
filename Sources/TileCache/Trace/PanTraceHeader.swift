/// What a pan trace says about itself before its samples: the `# key: value` lines.
public struct PanTraceHeader: Hashable, Sendable {
    /// A width and a height in pixels, as the header writes them: `1000x470`.
    public struct Size: Hashable, Sendable {
        /// The width in pixels: of the screen for a viewport, of the world for a world.
        public var width: Double
        /// The height in pixels: of the screen for a viewport, of the world for a world.
        public var height: Double

        /// Makes a size; nothing is checked.
        @inlinable
        public init(width: Double, height: Double) {
            self.width = width
            self.height = height
        }
    }

    /// A header line whose key means nothing to this version.
    public struct Entry: Hashable, Sendable {
        /// The text before the first colon, without the spaces around it.
        public var key: String
        /// The text after the first colon, without the spaces around it.
        public var value: String

        /// Makes an entry. Line breaks cannot be written in a header; they become spaces there.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// The size of the view in screen pixels; `nil` where the trace does not say, and the reader's flags must.
    public var viewport: Size?
    /// The size of the world in world pixels, whole numbers; `nil` where the trace does not say.
    public var world: Size?
    /// Whether the world goes on at its left edge where its right edge ends.
    public var wrapsX: Bool
    /// The width and the height of a tile in its own pixels; 256 unless given.
    public var tileSize: Int
    /// Which of several views that were recorded together this is; `nil` where there was one.
    public var viewName: String?
    /// The lines that this version does not know, in the order of the file: kept, and written again.
    public var otherEntries: [Entry]

    /// Makes a header.
    ///
    /// - Parameters:
    ///   - viewport: the size of the view in screen pixels; a recorder fills it in from the first viewport.
    ///   - world: the size of the world in world pixels, whole numbers.
    ///   - wrapsX: whether the world wraps horizontally; `false` unless given.
    ///   - tileSize: the width and the height of a tile in its own pixels; 256 unless given.
    ///   - viewName: which of several views this is.
    ///   - otherEntries: further lines to keep.
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
