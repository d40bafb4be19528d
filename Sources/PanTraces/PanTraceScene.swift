public import TileCache

/// What flags say about a trace's view and world; what they say counts more than the trace's header.
public struct PanTraceOverrides: Hashable, Sendable {
    /// The size of the view in screen pixels, both larger than 0.
    public var viewport: PanTraceHeader.Size?
    /// The size of the world in world pixels, whole numbers of 1 or more.
    public var world: PanTraceHeader.Size?
    /// Whether the world wraps horizontally.
    public var wrapsX: Bool?
    /// The width and the height of a tile in its own pixels, 1 or more.
    public var tileSize: Int?

    /// Makes overrides; nothing is overridden unless given.
    public init(
        viewport: PanTraceHeader.Size? = nil,
        world: PanTraceHeader.Size? = nil,
        wrapsX: Bool? = nil,
        tileSize: Int? = nil
    ) {
        self.viewport = viewport
        self.world = world
        self.wrapsX = wrapsX
        self.tileSize = tileSize
    }
}

/// The view and the world that a trace is replayed in, with nothing left open.
public struct PanTraceScene: Hashable, Sendable {
    /// The size of the view in screen pixels.
    public var viewport: PanTraceHeader.Size
    /// The width of the world in world pixels.
    public var worldWidth: Int
    /// The height of the world in world pixels.
    public var worldHeight: Int
    /// Whether the world wraps horizontally.
    public var wrapsX: Bool
    /// The width and the height of a tile in its own pixels.
    public var tileSize: Int

    /// Puts a header and flags together.
    ///
    /// - Parameters:
    ///   - header: what the trace says.
    ///   - overrides: what the flags say, which counts more.
    ///   - name: the name of the trace for messages.
    /// - Throws: ``PanTraceError`` where neither gives a viewport or a world that can be one.
    public init(
        _ header: PanTraceHeader,
        overrides: PanTraceOverrides = PanTraceOverrides(),
        name: String
    ) throws(PanTraceError) {
        guard let viewport = overrides.viewport ?? header.viewport, viewport.isViewport else {
            throw PanTraceError(
                kind: .missingViewport,
                file: name,
                line: nil,
                expected: "# viewport: WxH in the header, or --viewport"
            )
        }
        guard let world = overrides.world ?? header.world, world.isWorld else {
            throw PanTraceError(
                kind: .missingWorld,
                file: name,
                line: nil,
                expected: "# world: WxH in the header, or --world"
            )
        }
        self.viewport = viewport
        worldWidth = Int(world.width)
        worldHeight = Int(world.height)
        wrapsX = overrides.wrapsX ?? header.wrapsX
        tileSize = overrides.tileSize ?? header.tileSize
    }
}
