/// The two sizes of each picture. Letters are as large on a telephone as on a desktop.
enum ChartSize: CaseIterable {
    case wide, narrow

    var width: Double { self == .wide ? 760 : 350 }
    var height: Double { self == .wide ? 330 : 270 }
    var style: String { self == .wide ? "wide" : "narrow" }
    var xTicks: Int { self == .wide ? 9 : 4 }
    /// Approximate width of a letter of a label.
    static let letter = 6.3
}

struct LegendEntry {
    enum Mark {
        /// A line with its dashes and marker.
        case line(Int)
        case area(String)
        /// A line of another kind, by its class.
        case plain(String)
    }

    var name: String
    var mark: Mark
}

/// Common part of all charts: axes, grid, legend, and the mapping of values.
struct ChartFrame {
    var svg: SVG
    let x: Axis
    let y: Axis
    let left: Double
    let right: Double
    let top: Double
    let bottom: Double

    init(_ size: ChartSize, x: Axis, y: Axis, legend: [LegendEntry]) {
        self.x = x
        self.y = y
        let rows = Self.rows(legend, width: size.width)
        let legendHeight = Double(rows.count) * 18 + 4
        svg = SVG(width: size.width, height: size.height + legendHeight)
        let widest = y.ticks.map { Double(y.label($0).count) }.max() ?? 1
        left = 30 + widest * ChartSize.letter
        right = size.width - 14
        top = legendHeight + 8
        bottom = svg.height - 42
        drawAxes()
        draw(rows)
    }

    func px(_ value: Double) -> Double { left + (right - left) * x.part(value) }
    func py(_ value: Double) -> Double { bottom - (bottom - top) * y.part(value) }
    func place(_ x: Double, _ y: Double) -> String { SVG.place(px(x), py(y)) }

    private mutating func drawAxes() {
        for tick in y.ticks {
            svg.line(left, py(tick), right, py(tick), "grid")
            svg.text(y.label(tick), left - 6, py(tick) + 4, .end)
        }
        var free = -Double.infinity
        for tick in x.ticks {
            let place = px(tick)
            svg.line(place, bottom, place, bottom + 4, "axis")
            let half = Double(x.label(tick).count) * ChartSize.letter / 2
            // A label that would overlap the previous one is left out.
            let middle = min(max(place, left + half - 10), svg.width - half - 2)
            guard middle - half > free else { continue }
            svg.text(x.label(tick), middle, bottom + 17, .middle)
            free = middle + half + 4
        }
        svg.line(left, bottom, right, bottom, "axis")
        svg.text(x.heading, (left + right) / 2, bottom + 35, .middle)
        svg.text(y.heading, 13, (top + bottom) / 2, .middle, turned: true)
    }

    private static func width(_ entry: LegendEntry) -> Double { 40 + Double(entry.name.count) * ChartSize.letter }

    private static func rows(_ legend: [LegendEntry], width: Double) -> [[LegendEntry]] {
        var rows: [[LegendEntry]] = []
        var taken = Double.infinity
        for entry in legend {
            if taken + Self.width(entry) > width - 8 {
                rows.append([])
                taken = 8
            }
            rows[rows.count - 1].append(entry)
            taken += Self.width(entry)
        }
        return rows
    }

    private mutating func draw(_ rows: [[LegendEntry]]) {
        for (row, entries) in rows.enumerated() {
            var x = 8.0
            let y = Double(row) * 18 + 12
            for entry in entries {
                switch entry.mark {
                case .line(let series):
                    svg.line(x, y, x + 24, y, "l c\(series % 8) d\(series % 8)")
                    svg.marker(series, x + 12, y, "m f\(series % 8)")
                case .area(let style): svg.rectangle(x + 4, y - 6, 16, 12, style)
                case .plain(let style): svg.line(x, y, x + 24, y, style)
                }
                svg.text(entry.name, x + 29, y + 4)
                x += Self.width(entry)
            }
        }
    }

    /// Adds a line over the whole width, with its name at the right end.
    mutating func horizontal(_ value: Double, _ style: String) {
        svg.line(left, py(value), right, py(value), style)
    }

    /// Adds text for pointers over the whole height.
    mutating func hover(from start: Double, to end: Double, title: String) {
        svg.hover(px(start), top, px(end) - px(start), bottom - top, title: title)
    }

    /// Adds a line over the whole height, with a name beside it.
    mutating func vertical(_ value: Double, _ style: String, name: String, row: Int = 0, next: Double? = nil) {
        let place = px(value)
        svg.line(place, top, place, bottom, style)
        let length = Double(name.count) * ChartSize.letter
        // The name is on the right unless it would pass the chart's end or the next mark; else on the left.
        let end = min(right, next.map(px) ?? right)
        let fits = place + length + 6 < end || place - length - 6 < left
        svg.text(
            name,
            fits ? place + 5 : place - 5,
            bottom - 8 - Double(row) * 15,
            fits ? .start : .end,
            style: "t halo"
        )
    }
}
