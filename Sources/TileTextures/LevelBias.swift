import TileCache

/// Chooses the level bias with which a view's tiles fit the slots.
///
/// The number of tiles is bounded for all positions and scales. So the bias depends on sizes only: neither a view at
/// rest nor a zoom changes it, and it is as large as the worst scale requires. At the others it changes nothing, since a
/// bias moves the scales at which levels change.
struct LevelBias: Sendable {
    /// What the bound depends on.
    private struct Sizes: Equatable {
        var width: Double
        var height: Double
        var rotation: Double
        var slots: Int
        var layers: [LayerID]
        var selection: TileLevelSelection
    }

    private static let stepsPerOctave = 16
    private static let maximumSteps = 8 * stepsPerOctave
    /// Steps by which the bias must fall to be lowered. Keeps a turning view from changing it in every frame.
    private static let band = 2

    private var sizes: Sizes?
    private var steps = 0
    /// Slots with which no bias would be needed.
    private(set) var neededSlots = 0
    private(set) var changes = 0

    /// Octaves.
    var value: Double { Double(steps) / Double(Self.stepsPerOctave) }

    /// Ends the bias, for tiles that do not follow a viewport.
    mutating func reset() {
        if steps > 0 { changes += 1 }
        (sizes, steps, neededSlots) = (nil, 0, 0)
    }

    /// - Parameters:
    ///   - slots: Slots for tiles on screen.
    ///   - layers: Layers whose tiles fit the slots.
    mutating func update(
        _ viewport: TileViewport,
        _ selection: TileLevelSelection,
        _ layers: [FrameLayer],
        slots: Int
    ) {
        let new = Sizes(
            width: viewport.width,
            height: viewport.height,
            rotation: viewport.rotation,
            slots: slots,
            layers: layers.map(\.id),
            selection: selection
        )
        guard new != sizes else { return }
        let isTurning = sizes?.slots == slots && sizes?.layers == new.layers && sizes?.selection == selection
        sizes = new
        func bound(_ steps: Int) -> Int {
            let bias = Double(steps) / Double(Self.stepsPerOctave)
            return layers.reduce(0) {
                $0.addingReportingOverflow(Self.tiles(of: $1.pyramid, viewport, selection, bias)).partialValue
            }
        }
        neededSlots = bound(0)
        let least = (0..<Self.maximumSteps).partitioningIndex { bound($0) <= slots }
        guard least > steps || least <= steps - (isTurning ? Self.band : 1) else { return }
        steps = least
        changes += 1
    }

    /// Maximum number of tiles that a viewport of this size needs, at any position and scale.
    ///
    /// The coarsest level does not count: no bias replaces it.
    static func tiles(
        of pyramid: TilePyramid,
        _ viewport: TileViewport,
        _ selection: TileLevelSelection,
        _ bias: Double
    ) -> Int {
        let cosine = abs(PortableMath.cos(viewport.rotation))
        let sine = abs(PortableMath.sin(viewport.rotation))
        // A level is chosen at scales above this one, over the world pixels of a pixel of the level before.
        let factor = PortableMath.exp2(selection.hysteresis - selection.bias - bias)
        var most = 1
        for (index, coarser) in pyramid.levels.dropLast().enumerated() {
            let level = pyramid.levels[index + 1]
            let there = pyramid.range(overlapping: pyramid.contents, at: index + 1)
            let world = coarser.worldPixelsPerPixel * factor
            // Finite: the product of an infinite side and a sine of 0 is no number.
            let width = min(viewport.width * world, .greatestFiniteMagnitude)
            let height = min(viewport.height * world, .greatestFiniteMagnitude)
            let x = (width * cosine + height * sine) / level.tileSpanX
            let y = (width * sine + height * cosine) / level.tileSpanY
            let columns = min(x.rounded(.up) + 1, Double(there.columns.count))
            let rows = min(y.rounded(.up) + 1, Double(there.rows.count))
            var count = columns * rows
            if viewport.rotation != 0 {
                // Cells of a grid that meet a convex figure: cells of a unit square meet it if their corner lies in the
                // figure grown by a cell, which has at most area + half of the perimeter + 1 of them (Nosarzewska).
                let area = width / level.tileSpanX * height / level.tileSpanY
                let edges =
                    ((width * cosine / level.tileSpanX).hypotenuse(width * sine / level.tileSpanY))
                    + ((height * sine / level.tileSpanX).hypotenuse(height * cosine / level.tileSpanY))
                count = min(count, (area + x + y + edges + 4).rounded(.down))
            }
            most = max(most, Int(min(count, 1e15)))
        }
        return most
    }
}

extension Double {
    fileprivate func hypotenuse(_ other: Double) -> Double { (self * self + other * other).squareRoot() }
}
