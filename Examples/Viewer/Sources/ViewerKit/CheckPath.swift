public import TileCache

/// Viewports of a session that moves in all ways that a renderer distinguishes, for checks.
///
/// It pans by whole pixels at the scale of a level, pans by fractions, zooms, and turns. Equal seeds give equal sessions.
public struct CheckPath: Sequence, IteratorProtocol, Sendable {
    private var random: UInt64
    private let levels: [Double]
    private var viewport: TileViewport
    private var part = 0
    private var frame = 0
    private var velocity = SIMD2(0.0, 0.0)

    /// Frames of each kind of motion, 1 or more.
    private let partLength: Int

    /// Kinds of motion, which alternate.
    public static let parts = 4

    /// Starts a session within a world.
    ///
    /// - Parameters:
    ///   - pyramid: Pyramid of the world.
    ///   - width: Width of the view in pixels.
    ///   - height: Height of the view in pixels.
    ///   - seed: Selects the session.
    ///   - partLength: Frames of each kind of motion, at least 1. Default: 8.
    public init(_ pyramid: TilePyramid, width: Int, height: Int, seed: UInt64, partLength: Int = 8) {
        self.partLength = Swift.max(partLength, 1)
        random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        levels = pyramid.levels.map { 1 / $0.worldPixelsPerPixel }
        viewport = TileViewport(
            center: WorldPoint(x: pyramid.worldWidth / 2, y: pyramid.worldHeight / 2),
            width: Double(width),
            height: Double(height),
            scale: 1
        )
        let level = levels[Swift.min(2 + Int(seed % 4), levels.count - 1)]
        viewport.scale = level
        viewport.center.x += (next(-0.2, 0.2) * pyramid.worldWidth * level).rounded() / level
        viewport.center.y += (next(-0.2, 0.2) * pyramid.worldHeight * level).rounded() / level
    }

    private mutating func next(_ low: Double, _ high: Double) -> Double {
        // xorshift64*, Vigna 2016.
        random ^= random >> 12
        random ^= random << 25
        random ^= random >> 27
        return low + (high - low) * Double((random &* 0x2545_F491_4F6C_DD1D) >> 11) / 0x1p53
    }

    /// Viewport of the next frame. There is no last one.
    public mutating func next() -> TileViewport? {
        if frame % partLength == 0 {
            part = frame / partLength % Self.parts
            velocity = SIMD2(next(-40, 40), next(-40, 40))
            if part == 0 {
                let nearest = levels.min { abs($0 / viewport.scale - 1) < abs($1 / viewport.scale - 1) }
                (viewport.scale, viewport.rotation) = (nearest ?? 1, 0)
                velocity.round(.toNearestOrAwayFromZero)
            }
        }
        frame += 1
        viewport.center.x += velocity.x / viewport.scale
        viewport.center.y += velocity.y / viewport.scale
        if part == 2 { viewport.scale *= velocity.x > 0 && viewport.scale < 4 ? 1.07 : 1 / 1.05 }
        if part == 3 { viewport.rotation += 0.07 }
        viewport.scale = Swift.max(viewport.scale, levels[0])
        return viewport
    }
}
