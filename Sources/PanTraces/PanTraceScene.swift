import TileCache

/// Flags for a trace's view and world; they override the trace's header.
public struct PanTraceOverrides: Hashable, Sendable {
    /// Size of the view in screen pixels, both larger than 0.
    public var viewport: PanTraceHeader.Size?
    /// Size of the world in world pixels, integers of 1 or more.
    public var world: PanTraceHeader.Size?
    /// Whether the world wraps horizontally.
    public var wrapsX: Bool?
    /// Width and height of a tile in its own pixels, 1 or more.
    public var tileSize: Int?

    /// Creates overrides. Default: none.
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

/// View and world of a replay, all values set.
public struct PanTraceScene: Hashable, Sendable {
    /// Size of the view in screen pixels.
    public var viewport: PanTraceHeader.Size
    /// Width of the world in world pixels.
    public var worldWidth: Int
    /// Height of the world in world pixels.
    public var worldHeight: Int
    /// Whether the world wraps horizontally.
    public var wrapsX: Bool
    /// Width and height of a tile in its own pixels.
    public var tileSize: Int

    /// Combines a header and flags.
    ///
    /// - Parameters:
    ///   - header: Header of the trace.
    ///   - overrides: Flags, which override it.
    ///   - name: Name of the trace for messages.
    /// - Throws: ``PanTraceError`` if neither has a valid viewport or world, or if a header's sizes put more than
    ///   ``mostTiles`` tiles on the screen.
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
        // A trace of a few bytes must not choose how long its replay takes.
        guard Self.tiles(on: viewport, tileSize: tileSize) > Double(Self.mostTiles) else { return }
        guard overrides.tileSize != nil, overrides.viewport != nil else {
            let size = "\(Self.text(viewport.width))x\(Self.text(viewport.height))"
            throw PanTraceError(
                kind: .badHeader,
                file: name,
                line: nil,
                expected: "at most \(Self.mostTiles) tiles on the screen, or both --tile-size and --viewport",
                found: "tiles of \(tileSize) pixels in a viewport of \(size)"
            )
        }
    }

    /// Maximum number of tiles on the screen at 1:1 for the sizes of a header: those of 64 pixels in 8192 x 8192.
    public static let mostTiles = 16_384

    private static func text(_ side: Double) -> String { side == side.rounded() ? "\(Int(side))" : "\(side)" }

    private static func tiles(on viewport: PanTraceHeader.Size, tileSize: Int) -> Double {
        (viewport.width / Double(tileSize)).rounded(.up) * (viewport.height / Double(tileSize)).rounded(.up)
    }
}
