struct ChartSeries {
    var name: String
    var points: [(x: Double, y: Double)]
    /// Index of colour, dashes and marker.
    var look: Int
    var showsMarkers = true
    /// Holds each value until the next one, for step functions.
    var isStepped = false
}

struct ChartRule {
    var value: Double
    var name: String
    var style: String

    var entry: LegendEntry { LegendEntry(name: name, mark: .plain(style)) }
}

struct LineChart {
    var x: (ChartSize) -> Axis
    var y: Axis
    var series: [ChartSeries]
    var verticals: [ChartRule] = []
    var horizontals: [ChartRule] = []
    /// Number of strips with values for a line without markers.
    fileprivate static let hoverStrips = 120

    func draw(_ size: ChartSize) -> SVG {
        let legend = series.map { LegendEntry(name: $0.name, mark: .line($0.look)) }
        var frame = ChartFrame(size, x: x(size), y: y, legend: legend + horizontals.map(\.entry))
        for rule in horizontals { frame.horizontal(rule.value, rule.style) }
        let marks = verticals.sorted { $0.value < $1.value }
        for (row, rule) in marks.enumerated() {
            let next = row + 1 < marks.count ? marks[row + 1].value : nil
            frame.vertical(rule.value, rule.style, name: rule.name, row: row, next: next)
        }
        if size == .wide, let only = series.first, series.count == 1, !only.showsMarkers { addHover(only, &frame) }
        for line in series {
            var commands = ""
            var last = 0.0
            for (index, point) in line.points.enumerated() {
                if line.isStepped, index > 0 { commands += "L" + frame.place(point.x, last) }
                commands += (index == 0 ? "M" : "L") + frame.place(point.x, point.y)
                last = point.y
            }
            frame.svg.path(commands, "l c\(line.look % 8) d\(line.look % 8)")
            guard line.showsMarkers, line.points.count <= 60 else { continue }
            for point in line.points {
                frame.svg.marker(
                    line.look,
                    frame.px(point.x),
                    frame.py(point.y),
                    "m f\(line.look % 8)",
                    title: "\(line.name): \(frame.x.precise(point.x)), \(frame.y.precise(point.y))"
                )
            }
        }
        return frame.svg
    }
}

extension LineChart {
    /// Adds the values of a line's points for pointers: strips from point to point.
    private func addHover(_ line: ChartSeries, _ frame: inout ChartFrame) {
        let points = line.points.filter { $0.x <= frame.x.high }
        let every = max((points.count + Self.hoverStrips - 1) / Self.hoverStrips, 1)
        for first in stride(from: 0, to: points.count, by: every) {
            let end = first + every < points.count ? points[first + every].x : frame.x.high
            let (x, y) = points[first]
            frame.hover(from: x, to: end, title: "\(frame.x.precise(x)): \(frame.y.precise(y))")
        }
    }
}

struct StackedChart {
    struct Layer {
        var name: String
        var style: String
        var values: [Double]
    }

    /// Width of an interval, in the unit of the axis.
    var stride: Double
    var x: (ChartSize) -> Axis
    var y: Axis
    var layers: [Layer]
    var horizontals: [ChartRule] = []
    /// Times of the moments in the adjacent list, numbered from 1. The id of a place is the link with the number
    /// appended.
    var spots: (link: String, times: [Double]) = ("", [])

    /// Number of intervals.
    private var count: Int { layers.map(\.values.count).max() ?? 0 }

    func draw(_ size: ChartSize) -> SVG {
        let legend = layers.reversed().map { LegendEntry(name: $0.name, mark: .area($0.style)) }
        var frame = ChartFrame(size, x: x(size), y: y, legend: legend + horizontals.map(\.entry))
        var floor = [Double](repeating: 0, count: count)
        for layer in layers {
            let top = floor.indices.map { floor[$0] + ($0 < layer.values.count ? layer.values[$0] : 0) }
            // Up along the tops and back along the bottom; an interval without a value is not drawn.
            var commands = ""
            var index = 0
            while index < top.count {
                guard top[index] > floor[index] else {
                    index += 1
                    continue
                }
                var end = index
                while end < top.count, top[end] > floor[end] { end += 1 }
                commands += outline(frame, index..<end, top, floor)
                index = end
            }
            frame.svg.path(commands, layer.style)
            floor = top
        }
        for rule in horizontals { frame.horizontal(rule.value, rule.style) }
        if size == .wide { addHover(&frame) }
        // Lines first: a number below others covers their lines.
        for time in spots.times { frame.svg.line(frame.px(time), frame.top + 8, frame.px(time), frame.bottom, "rule") }
        var rows: [[Double]] = []
        for (index, time) in spots.times.enumerated() {
            let place = max(frame.px(time), frame.left + 9)
            // Below those that it would overlap.
            let row = rows.firstIndex { $0.allSatisfy { abs($0 - place) >= 19 } } ?? rows.count
            if row == rows.count { rows.append([]) }
            rows[row].append(place)
            frame.svg.spot(
                index + 1,
                place,
                frame.top + 19 * Double(row),
                link: "\(spots.link)\(index + 1)",
                title: frame.x.precise(time)
            )
        }
        return frame.svg
    }

    /// Adds the values of each interval for pointers. Screen readers have them in the list and the sentence.
    private func addHover(_ frame: inout ChartFrame) {
        for index in 0..<count {
            let parts = layers.reversed().filter { index < $0.values.count && $0.values[index] > 0 }
                .map { "\($0.name) \(frame.y.precise($0.values[index]))" }
            guard !parts.isEmpty else { continue }
            let (start, end) = (Double(index) * stride, Double(index + 1) * stride)
            let title = "\(frame.x.precise(start)) to \(frame.x.precise(end)): \(parts.joined(separator: ", "))"
            frame.hover(from: start, to: end, title: title)
        }
    }

    private func outline(_ frame: ChartFrame, _ range: Range<Int>, _ top: [Double], _ floor: [Double]) -> String {
        func corner(_ index: Int, _ value: Double) -> String {
            frame.place(Double(index) * stride, value)
        }
        var there = ""
        var back: [String] = []
        for index in range {
            there += (index == range.lowerBound ? "M" : "L") + corner(index, top[index])
            there += "L" + corner(index + 1, top[index])
            back.append("L" + corner(index, floor[index]))
            back.append("L" + corner(index + 1, floor[index]))
        }
        return there + back.reversed().joined() + "z"
    }
}

/// A map of the world with the path of the screen's middle. Shows tiles by their use.
struct MapChart {
    /// Maximum number of pieces for one level; beyond it tiles are merged.
    private static let tileCount = 2500

    let series: ReplaySeries
    /// Prefix of the ids of the worst moments.
    var link = ""

    func draw(_ size: ChartSize) -> SVG {
        let region = self.region
        let legendRows = size == .wide ? 1.0 : 3
        let top = legendRows * 18 + 8
        let room = size == .wide ? 440.0 : 340
        let scale = min((size.width - 4) / region.width, room / region.height)
        let width = region.width * scale
        let height = region.height * scale
        let left = (size.width - width) / 2
        var svg = SVG(width: size.width, height: top + height + 4)
        svg.rectangle(left, top, width, height, "paper")
        func rectangle(_ tile: ReplaySeries.Tile) -> (Double, Double, Double, Double) {
            let span = series.tileSpans[tile.level]
            let x = max((Double(tile.column) * span.x - region.x) * scale, 0)
            let y = max((Double(tile.row) * span.y - region.y) * scale, 0)
            let farX = min((Double(tile.column + 1) * span.x - region.x) * scale, width)
            let farY = min((Double(tile.row + 1) * span.y - region.y) * scale, height)
            return (left + x, top + y, farX - x, farY - y)
        }
        let levels = Dictionary(grouping: series.tiles.filter { $0.level < series.tileSpans.count }, by: \.level)
        for (level, tiles) in levels.sorted(by: { $0.key < $1.key }) {
            // Tiles smaller than a dot are drawn as their ancestors.
            let side = series.tileSpans[level].x * scale
            let drawn = side < 1.5 || tiles.count > Self.tileCount ? thinned(tiles) : tiles
            for use in [ReplaySeries.Use.wasted, .drawn, .prefetched] {
                var commands = ""
                for tile in drawn where tile.use == use {
                    let (x, y, w, h) = rectangle(tile)
                    guard w > 0, h > 0 else { continue }
                    let (width, height) = (SVG.number(max(w, 0.7)), SVG.number(max(h, 0.7)))
                    commands += "M\(SVG.place(x, y))h\(width)v\(height)h-\(width)z"
                }
                let count = tiles.count { $0.use == use }
                svg.path(
                    commands,
                    "u \(use.rawValue)",
                    title: size == .wide ? "level \(level), \(use.text): \(count: count) tiles" : ""
                )
            }
        }
        svg.path(way(region, scale, left, top), "way")
        svg.rectangle(left, top, width, height, "edge")
        let places = series.moments.map { moment in
            Spot(x: (wrapped(moment.x) - region.x) * scale, y: (moment.y - region.y) * scale).within(width, height)
        }
        addMoments(to: &svg, places, Spot.apart(places, width, height), left: left, top: top)
        addKey(to: &svg, size)
        return svg
    }

    /// Adds the numbers of the worst moments, with lines to their places where others have these.
    private func addMoments(to svg: inout SVG, _ places: [Spot], _ spots: [Spot], left: Double, top: Double) {
        // Lines first: a number covers the lines of others.
        for (place, spot) in zip(places, spots) where spot != place {
            svg.line(left + place.x, top + place.y, left + spot.x, top + spot.y, "spot")
        }
        for (index, (moment, spot)) in zip(series.moments, spots).enumerated().reversed() {
            svg.spot(
                index + 1,
                left + spot.x,
                top + spot.y,
                link: "\(link)\(index + 1)",
                title: "\(seconds: moment.seconds): \(moment.cause.text)"
            )
        }
    }

    private func addKey(to svg: inout SVG, _ size: ChartSize) {
        let names = [ReplaySeries.Use.drawn, .prefetched, .wasted].map { ("u \($0.rawValue)", $0.text) }
        var x = 8.0
        var y = 12.0
        for (style, name) in names {
            svg.rectangle(x + 4, y - 6, 16, 12, style)
            svg.text(name, x + 26, y + 4)
            if size == .wide { x += 46 + Double(name.count) * ChartSize.letter } else { y += 18 }
        }
        if size == .wide {
            svg.line(x, y, x + 24, y, "way")
            svg.text("way of the screen's middle", x + 30, y + 4)
        }
    }

    private struct Region {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    /// Middle of a number's circle, from the corner of the map.
    private struct Spot: Equatable {
        var x: Double
        var y: Double

        /// Steps of a lattice of triangles with sides of `apart`, by their length.
        private static let steps: [Spot] = {
            let apart = 19.0
            let steps = (-10...10).flatMap { row in
                (-10...10).map { Spot(x: (Double($0) + Double(row) / 2) * apart, y: Double(row) * apart * 0.866) }
            }
            return steps.sorted { ($0.x * $0.x + $0.y * $0.y, $0.y, $0.x) < ($1.x * $1.x + $1.y * $1.y, $1.y, $1.x) }
        }()

        /// The nearest place whose circle is on the map.
        func within(_ width: Double, _ height: Double) -> Spot {
            Spot(x: min(max(x, 8), max(width - 8, 8)), y: min(max(y, 8), max(height - 8, 8)))
        }

        /// Moves those that would overlap an earlier one to the nearest place that is free.
        static func apart(_ places: [Spot], _ width: Double, _ height: Double) -> [Spot] {
            places.reduce(into: []) { spots, place in
                let free = steps.lazy.map { Spot(x: place.x + $0.x, y: place.y + $0.y).within(width, height) }
                    .first { spot in
                        spots.allSatisfy {
                            let (x, y) = ($0.x - spot.x, $0.y - spot.y)
                            return x * x + y * y >= 18 * 18
                        }
                    }
                // A map of a few pixels has no room.
                spots.append(free ?? place)
            }
        }
    }

    /// Region of the path and all tiles but the coarsest, the whole world.
    private var region: Region {
        var (minX, minY, maxX, maxY) = (Double.infinity, Double.infinity, -Double.infinity, -Double.infinity)
        func include(_ x: Double, _ y: Double) {
            minX = min(minX, x)
            minY = min(minY, y)
            maxX = max(maxX, x)
            maxY = max(maxY, y)
        }
        let finest = series.tiles.map(\.level).max() ?? 0
        for tile in series.tiles where tile.level >= finest - 3 && tile.level < series.tileSpans.count {
            let span = series.tileSpans[tile.level]
            include(Double(tile.column) * span.x, Double(tile.row) * span.y)
            include(Double(tile.column + 1) * span.x, Double(tile.row + 1) * span.y)
        }
        for point in series.path { include(wrapped(point.x), point.y) }
        guard minX < maxX, minY < maxY else { return Region(x: 0, y: 0, width: series.world.x, height: series.world.y) }
        let margin = max(maxX - minX, maxY - minY) * 0.02
        minX = max(minX - margin, 0)
        minY = max(minY - margin, 0)
        maxX = min(maxX + margin, series.world.x)
        maxY = min(maxY + margin, series.world.y)
        // At most three times as wide as high, and the reverse.
        let width = max(maxX - minX, (maxY - minY) / 1.5)
        let height = max(maxY - minY, width / 3)
        return Region(
            x: min(max((minX + maxX - width) / 2, 0), max(series.world.x - width, 0)),
            y: min(max((minY + maxY - height) / 2, 0), max(series.world.y - height, 0)),
            width: max(min(width, series.world.x), 1),
            height: max(min(height, series.world.y), 1)
        )
    }

    /// A place within the world: of a wrapping one the same place, of another the nearest.
    private func wrapped(_ x: Double) -> Double {
        let width = series.world.x
        guard width > 0 else { return x }
        guard series.wrapsX else { return min(max(x, 0), width) }
        let rest = x - (x / width).rounded(.down) * width
        return rest.isFinite ? rest : 0
    }

    private func way(_ region: Region, _ scale: Double, _ left: Double, _ top: Double) -> String {
        var commands = ""
        var last: Double?
        for point in series.path {
            let x = wrapped(point.x)
            // A step around the world is not a line across it.
            let jumps = last.map { series.wrapsX && abs($0 - x) > series.world.x / 2 } ?? true
            let px = min(max((x - region.x) * scale, 0), region.width * scale)
            let py = min(max((point.y - region.y) * scale, 0), region.height * scale)
            commands += (jumps ? "M" : "L") + SVG.place(left + px, top + py)
            last = x
        }
        return commands
    }

    /// Merges tiles of a level to squares of four by four, by most frequent use.
    private func thinned(_ tiles: [ReplaySeries.Tile]) -> [ReplaySeries.Tile] {
        guard let level = tiles.first?.level, level >= 2 else { return tiles }
        var counts: [Int: [Int: [ReplaySeries.Use: Int]]] = [:]
        for tile in tiles {
            counts[tile.row >> 2, default: [:]][tile.column >> 2, default: [:]][tile.use, default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.flatMap { row, columns in
            columns.sorted { $0.key < $1.key }.map { column, uses in
                let use = ReplaySeries.Use.allCases.max { (uses[$0] ?? 0) < (uses[$1] ?? 0) } ?? .drawn
                return ReplaySeries.Tile(level: level - 2, column: column, row: row, use: use)
            }
        }
    }
}

extension ReplaySeries.Use {
    fileprivate var text: String {
        switch self {
        case .drawn: "loaded when needed"
        case .prefetched: "prefetched and used"
        case .wasted: "never drawn"
        }
    }
}
