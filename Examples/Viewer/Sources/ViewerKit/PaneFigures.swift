public import TileCache

/// Figures of one of several panes: hits, and the area without a tile.
public struct PaneFigures: Hashable, Sendable {
    /// Name of the pane, such as a prefetch policy.
    public let name: String
    /// Share of the last frame without a tile, 0 to 1.
    public private(set) var blank = 0.0
    private var sum = 0.0
    private var frames = 0

    /// Creates figures without frames.
    public init(name: String) { self.name = name }

    /// Mean share of a frame without a tile, 0 to 1; `nil` before the first frame.
    public var meanBlank: Double? { frames == 0 ? nil : sum / Double(frames) }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - drawn: What is drawn, in world pixels; the rectangles do not overlap.
    ///   - viewport: View of the frame, not turned.
    ///   - pyramid: Pyramid of the world; what lies beyond its edges counts neither as drawn nor as blank.
    public mutating func add(drawn: [PixelRect], viewport: TileViewport, pyramid: TilePyramid) {
        var view = viewport.worldRectangle
        view.minY = max(view.minY, 0)
        view.maxY = min(view.maxY, pyramid.worldHeight)
        if !pyramid.wrapsX {
            view.minX = max(view.minX, 0)
            view.maxX = min(view.maxX, pyramid.worldWidth)
        }
        frames += 1
        blank = 0
        guard !view.isEmpty else { return }
        let area = drawn.reduce(0) {
            let part = $1.intersection(view)
            return $0 + (part.isEmpty ? 0 : part.width * part.height)
        }
        // Sums of rectangles round.
        let share = 1 - area / (view.width * view.height)
        blank = share < 1e-9 ? 0 : min(share, 1)
        sum += blank
    }

    /// Lines of the pane's corner.
    public func lines(_ statistics: TileCacheStatistics) -> [String] {
        [
            name,
            "hits \(percent(statistics.hitRate)) of \(statistics.demands.total)",
            "blank \(percent(meanBlank)), now \(percent(blank))",
        ]
    }

    /// The lines as shapes, at the upper left corner of a pane that begins at `x`.
    public func shapes(_ statistics: TileCacheStatistics, x: Double) -> [Shape] {
        let lines = lines(statistics)
        let width = lines.map(Shape.width).max() ?? 0
        let box = PixelRect(
            minX: x + 6,
            minY: 6,
            maxX: x + 22 + width,
            maxY: 12 + Double(lines.count) * Shape.lineHeight
        )
        return [.fill(box, .panel)]
            + lines.enumerated().map { index, line in
                let colour: Colour = index == 0 ? .yellow : .white
                return .text(line, x: x + 14, y: 9 + Double(index) * Shape.lineHeight, colour)
            }
    }

    /// Line of the summary at the end.
    public func summary(_ statistics: TileCacheStatistics) -> String {
        "\(name): hits \(percent(statistics.hitRate)) of \(statistics.demands.total), blank \(percent(meanBlank)), "
            + "loads \(statistics.loads.started), waste \(percent(statistics.waste)), peak \(statistics.memory.peak)"
    }
}
