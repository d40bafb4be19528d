import Foundation
public import TileCache

/// Contents of the overlay: tile states, the plan, the predicted view and memory use.
///
/// Pure: equal facts give equal shapes.
public struct Overlay: Sendable {
    /// Input of the overlay.
    public struct Facts: Sendable {
        /// Present viewport.
        public var viewport: TileViewport
        /// State and plan of the cache.
        public var diagnostics: TileViewDiagnostics
        /// Statistics of the cache.
        public var statistics: TileCacheStatistics
        /// Frame costs on this thread, and the frame rate.
        public var costs: FrameText
        /// Names of the stores that `statistics` counts, in the same order.
        public var stores: [String]
        /// Texture slots; `nil` if there are none.
        public var textures: TextureText?

        /// Creates the facts.
        public init(
            viewport: TileViewport,
            diagnostics: TileViewDiagnostics,
            statistics: TileCacheStatistics,
            costs: FrameText,
            stores: [String] = [],
            textures: TextureText? = nil
        ) {
            self.viewport = viewport
            self.diagnostics = diagnostics
            self.statistics = statistics
            self.costs = costs
            self.stores = stores
            self.textures = textures
        }
    }

    /// Margin of the small map around the viewport, in viewports.
    public static let margin = 1.0
    /// Number of plan entries that are numbered.
    static let numbered = 99

    /// Width of the panel at the left, in pixels.
    static let panelWidth = 384.0

    /// Shapes from back to front.
    public static func shapes(_ facts: Facts) -> [Shape] {
        tilesOnScreen(facts) + inset(facts) + insetLegend(facts) + panel(facts)
    }

    // MARK: Over the tiles

    /// Tints and outlines the tiles in view, and numbers those still to load.
    ///
    /// Shapes are upright, so a turned view has none.
    static func tilesOnScreen(_ facts: Facts) -> [Shape] {
        guard facts.viewport.rotation == 0 else { return [] }
        let screen = PixelRect(minX: 0, minY: 0, maxX: facts.viewport.width, maxY: facts.viewport.height)
        let order = Dictionary(
            facts.diagnostics.plan.enumerated().map { ($0.element.tile, $0.offset + 1) },
            uniquingKeysWith: min
        )
        var shapes: [Shape] = []
        for tile in facts.diagnostics.tiles where tile.isNeeded {
            let place = facts.viewport.screenRectangle(of: tile.worldRectangle).rounded
            guard !place.intersection(screen).isEmpty else { continue }
            let colour = Colour.of(tile.state)
            shapes.append(.fill(place, colour.with(alpha: tile.state == .decoded ? 24 : 72)))
            shapes.append(.outline(place, colour.with(alpha: 200)))
            var text = "\(tile.tile)"
            if let number = order[tile.tile], number <= numbered { text = "#\(number) \(text)" }
            if place.width >= Shape.width(of: text) + 8 {
                shapes.append(.text(text, x: place.minX + 5, y: place.minY + 5, Colour(0x000000, alpha: 200)))
                shapes.append(.text(text, x: place.minX + 4, y: place.minY + 4, .white))
            }
        }
        return shapes
    }

    // MARK: The surroundings

    /// A small map of three viewports a side: states, plan order, view and predicted view.
    static func inset(_ facts: Facts) -> [Shape] {
        let (width, height) = (facts.viewport.width, facts.viewport.height - legendHeight)
        let span = 1 + 2 * margin
        let factor = min(360 / (width * span), 300 / (facts.viewport.height * span))
        let box = PixelRect(
            minX: (width - width * span * factor - 12).rounded(),
            minY: (height - facts.viewport.height * span * factor - 12).rounded(),
            maxX: (width - 12).rounded(),
            maxY: (height - 12).rounded()
        )
        var small = facts.viewport
        small.width = box.width
        small.height = box.height
        small.scale *= factor
        func place(_ world: PixelRect) -> PixelRect {
            small.screenRectangle(of: world).offsetBy(x: box.minX, y: box.minY).rounded.intersection(box)
        }
        var shapes: [Shape] = [.fill(box, .panel)]
        let level = facts.diagnostics.tiles.first(where: \.isNeeded)?.tile.level
        for tile in facts.diagnostics.tiles {
            let area = place(tile.worldRectangle)
            guard !area.isEmpty, tile.state != .missing || tile.isNeeded else { continue }
            shapes.append(.fill(area, Colour.of(tile.state).with(alpha: 200)))
            shapes.append(.outline(area, Colour(0x000000, alpha: 90)))
        }
        for (index, tile) in facts.diagnostics.plan.prefix(numbered).enumerated().reversed() {
            let area = place(tile.worldRectangle)
            guard !area.isEmpty else { continue }
            // The sooner a tile is planned, the brighter.
            let alpha = UInt8(255 - min(index, 20) * 9)
            shapes.append(.outline(area, Colour.yellow.with(alpha: alpha)))
            let text = "\(index + 1)"
            // Tiles of other levels overlap; their numbers would hide each other.
            guard tile.tile.level == level else { continue }
            if area.width >= Shape.width(of: text) + 3, area.height >= Shape.lineHeight {
                let x = ((area.minX + area.maxX - Shape.width(of: text)) / 2).rounded()
                shapes.append(.text(text, x: x, y: ((area.minY + area.maxY - Shape.lineHeight) / 2).rounded(), .yellow))
            }
        }
        shapes.append(.outline(place(facts.viewport.worldRectangle), .white))
        if let expected = facts.diagnostics.expectedRectangle {
            let area = place(expected)
            if !area.isEmpty { shapes.append(.outline(area, .cyan)) }
        }
        shapes.append(.outline(box, .grey))
        return shapes
    }

    /// Outlines on the small map, below it.
    private static let legendHeight = Shape.lineHeight + 7

    static func insetLegend(_ facts: Facts) -> [Shape] {
        let frames = [("view", Colour.white), ("expected", .cyan), ("planned, in order", .yellow)]
        let width = frames.reduce(0) { $0 + keyWidth($1.0) } + 8
        let (right, bottom) = (facts.viewport.width - 12, facts.viewport.height - 12)
        let box = PixelRect(minX: right - width, minY: bottom - legendHeight + 3, maxX: right, maxY: bottom)
        var shapes: [Shape] = [.fill(box, .panel)]
        var x = box.minX + 8
        for (name, colour) in frames {
            shapes += key(colour, isFrame: true, name, x: x, y: box.minY + 2)
            x += keyWidth(name)
        }
        return shapes
    }

    // MARK: Figures

    /// Legend: the states of tiles, then the parts that only the bar shows.
    static let legend =
        TileViewDiagnostics.TileState.allCases.map { ("\($0)", Colour.of($0)) }
        + [(MemoryPart.tables.rawValue, MemoryPart.tables.colour)]
    private static let columns = 3

    static func panel(_ facts: Facts) -> [Shape] {
        let lines = text(facts)
        let rows = Double(lines.count + (legend.count + columns - 1) / columns)
        let box = PixelRect(minX: 12, minY: 12, maxX: 12 + panelWidth, maxY: 12 + rows * Shape.lineHeight + 36)
        var shapes: [Shape] = [.fill(box, .panel), .outline(box, .grey)]
        var y = box.minY + 6
        for line in lines {
            shapes.append(.text(line, x: box.minX + 8, y: y, .white))
            y += Shape.lineHeight
        }
        shapes += memory(
            facts.statistics,
            in: PixelRect(minX: box.minX + 8, minY: y + 4, maxX: box.maxX - 8, maxY: y + 18)
        )
        y += 24
        for (index, (name, colour)) in legend.enumerated() {
            let x = box.minX + 8 + Double(index % columns) * ((panelWidth - 16) / Double(columns)).rounded(.down)
            shapes += key(colour, isFrame: false, name, x: x, y: y + Double(index / columns) * Shape.lineHeight)
        }
        return shapes
    }

    private static func key(_ colour: Colour, isFrame: Bool, _ name: String, x: Double, y: Double) -> [Shape] {
        let swatch = PixelRect(minX: x, minY: y + 3, maxX: x + 11, maxY: y + 14)
        return [
            isFrame ? .outline(swatch, colour) : .fill(swatch, colour),
            .text(name, x: x + 17, y: y, .white),
        ]
    }

    private static func keyWidth(_ name: String) -> Double { 17 + Shape.width(of: name) + 14 }

    static func text(_ facts: Facts) -> [String] {
        let statistics = facts.statistics
        let demands = statistics.demands
        var lines = [
            facts.costs.rate,
            facts.costs.cost,
            "hit rate \(percent(statistics.hitRate)) of \(demands.total) demands",
            "  pan \(percent(statistics.pan.hitRate)), zoom \(percent(statistics.zoom.hitRate))",
            "  late \(demands.late), missed \(demands.missed)",
            "loads \(statistics.loads.started), in flight \(statistics.loadsInFlight), "
                + "waste \(percent(statistics.waste))",
            "planned \(facts.diagnostics.plan.count)",
        ]
        lines += zip(facts.stores, statistics.stores).map(text)
        lines += facts.textures?.lines ?? []
        lines.append("memory \(statistics.memory.used) of \(statistics.memory.limit)")
        return lines
    }

    /// Line of a tier below memory.
    private static func text(_ name: String, _ counts: TileCacheStatistics.StoreCounts) -> String {
        let misses = counts.misses + counts.absences
        let wait = counts.meanWait.map { ", \(Int(($0 / .microseconds(1)).rounded())) us" } ?? ""
        return "\(name): \(counts.hits) hits, \(misses) misses, \(counts.writes) written\(wait)"
    }

    /// Uses of memory, with names and colours of the tile states.
    enum MemoryPart: String, CaseIterable {
        case decoded, loading, compressed, tables

        var colour: Colour {
            switch self {
            case .decoded: Colour.of(.decoded)
            case .loading: Colour.of(.loading)
            case .compressed: Colour.of(.compressed)
            case .tables: Colour(0xBCAAA4)
            }
        }

        func bytes(_ statistics: TileCacheStatistics) -> Int {
            switch self {
            case .decoded: max(statistics.memory.decoded.bytes - statistics.memory.inFlight.bytes, 0)
            case .loading: statistics.memory.inFlight.bytes
            case .compressed: statistics.memory.compressed.bytes
            case .tables: statistics.memory.bookkeeping.bytes
            }
        }
    }

    /// A bar as long as the limit, filled tier by tier.
    static func memory(_ statistics: TileCacheStatistics, in bar: PixelRect) -> [Shape] {
        var shapes: [Shape] = [.fill(bar, Colour(0x2A2F36))]
        var used = 0
        let limit = Double(max(statistics.memory.limit.bytes, 1))
        for part in MemoryPart.allCases {
            let start = bar.minX + bar.width * min(Double(used) / limit, 1)
            used += part.bytes(statistics)
            let end = bar.minX + bar.width * min(Double(used) / limit, 1)
            guard end > start else { continue }
            let area = PixelRect(minX: start, minY: bar.minY, maxX: end, maxY: bar.maxY)
            shapes.append(.fill(area, part.colour))
        }
        return shapes + [.outline(bar, .grey)]
    }
}

/// Status line at the bottom left, always shown.
public struct FrameText: Hashable, Sendable {
    /// `60 frames a second`.
    public var rate: String
    /// Cost of the cache on the drawing thread.
    public var cost: String

    /// Formats the figures of the last second and the last minute.
    ///
    /// - Parameter usesProcessor: Whether the processor draws, whose frames say nothing of the cache. Default: false.
    public init(framesPerSecond: Double?, late: Int, usesProcessor: Bool = false, cost: FrameCosts) {
        let frames =
            framesPerSecond.map { "\(Int($0.rounded())) frames a second, \(late) late" } ?? "frames a second: -"
        rate = usesProcessor ? "drawn without a graphics card" : frames
        self.cost = "cache " + cost.text
    }

    /// The line as shapes, for a window of this height.
    public func shapes(height: Double) -> [Shape] {
        let line = "\(rate), \(cost)"
        let box = PixelRect(
            minX: 12,
            minY: height - 35,
            maxX: 28 + Shape.width(of: line),
            maxY: height - 12
        )
        return [.fill(box, .panel), .text(line, x: 20, y: height - 32, .white)]
    }
}

/// A share with one decimal.
func percent(_ share: Double?) -> String {
    guard let share else { return "-" }
    let tenths = Int((share * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
}

extension PixelRect {
    /// Rounds the edges to whole pixels.
    var rounded: PixelRect {
        PixelRect(minX: minX.rounded(), minY: minY.rounded(), maxX: maxX.rounded(), maxY: maxY.rounded())
    }
}

extension TileViewport {
    /// Bounds of the part of the world that a view shows.
    var worldRectangle: PixelRect {
        let (cosine, sine) = (rotation == 0 ? (1, 0) : (abs(cos(rotation)), abs(sin(rotation))))
        let x = (width * cosine + height * sine) / scale / 2
        let y = (width * sine + height * cosine) / scale / 2
        return PixelRect(minX: center.x - x, minY: center.y - y, maxX: center.x + x, maxY: center.y + y)
    }

    /// The same view on a screen with larger pixels.
    public func inPoints(pixelsPerPoint factor: Double) -> TileViewport {
        var viewport = self
        viewport.width /= factor
        viewport.height /= factor
        viewport.scale /= factor
        return viewport
    }
}
