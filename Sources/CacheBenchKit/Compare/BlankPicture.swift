/// SVG picture of the missing area over time, with a strip for each policy. All strips show the same seconds of one
/// trace.
package struct BlankPicture {
    private static let stripHeight = 76.0
    private static let gap = 26.0

    private struct Strip {
        var name: String
        var blank: String
        var series: ReplaySeries
    }

    private let strips: [Strip]
    private let limit: String

    /// Replays a trace with each policy at one limit.
    package init(path: String, policies: [PrefetchKind], budget: MemoryLimit, options: ReplayOptions) throws {
        var options = options
        options.memoryLimit = budget
        options.limitFlag = "--budgets"
        limit = budget.shown
        strips = try policies.map { [options] policy in
            let input = try ReplayInput(path: path, options: options)
            let result = try input.naming {
                try Replay(options.with(policy)).run(input, hooks: ReplayHooks(keepsSeries: true))
            }
            let blank = Figures.percent(result.total.coverage.blank)
            return Strip(name: Self.title(policy), blank: blank, series: result.series[0])
        }
    }

    private static func title(_ policy: PrefetchKind) -> String {
        switch policy {
        case .none: "no prefetch"
        case .skewport: "Chromium's rule (skewport)"
        case .tilecache: "TileCache"
        default: policy.rawValue
        }
    }

    /// Text of the file.
    package var text: String {
        let size = ChartSize.wide
        let (left, right) = (44.0, size.width - 14)
        let seconds = strips.map { Double($0.series.buckets.count) * $0.series.bucketSeconds }.max() ?? 1
        let x = Axis(title: "time", unit: .seconds, upTo: seconds, tickCount: size.xTicks)
        func px(_ seconds: Double) -> Double { left + (right - left) * x.part(seconds) }
        let bottom = Double(strips.count) * (Self.stripHeight + Self.gap)
        var svg = SVG(width: size.width, height: bottom + 66)
        svg.rectangle(0, 0, svg.width, svg.height, "back")
        for (index, strip) in strips.enumerated() {
            let top = Double(index) * (Self.stripHeight + Self.gap) + Self.gap
            let floor = top + Self.stripHeight
            svg.text("\(strip.name): \(strip.blank) of the area blank while the view moves or waits", left, top - 7)
            svg.text("100%", left - 5, top + 8, .end)
            svg.text("0", left - 5, floor + 3, .end)
            svg.line(left, top, right, top, "grid")
            for (place, bucket) in strip.series.buckets.enumerated() {
                let start = px(Double(place) * strip.series.bucketSeconds)
                let end = px(Double(place + 1) * strip.series.bucketSeconds)
                let blank = bucket.share(bucket.blankPixels) * Self.stripHeight
                let coarse = bucket.share(bucket.coarsePixels) * Self.stripHeight
                if blank > 0 { svg.rectangle(start, floor - blank, end - start, blank, "a1") }
                if coarse > 0 { svg.rectangle(start, floor - blank - coarse, end - start, coarse, "coarse") }
            }
            svg.line(left, floor, right, floor, "axis")
        }
        for tick in x.ticks where tick <= x.high {
            svg.text(x.label(tick), px(tick), bottom + 17, .middle)
        }
        svg.text(x.heading, (left + right) / 2, bottom + 35, .middle)
        svg.rectangle(left, bottom + 46, 16, 12, "a1")
        svg.text("blank", left + 22, bottom + 56)
        svg.rectangle(left + 80, bottom + 46, 16, 12, "coarse")
        svg.text("drawn with coarser or finer tiles", left + 102, bottom + 56)
        svg.text("memory limit \(limit)", right, bottom + 56, .end)
        let sentence = strips.map { "\($0.name): \($0.blank) blank" }.joined(separator: "; ")
        return svg.file(label: "What is missing on the screen over time. \(sentence).", rules: Self.rules)
    }

    private static let rules = """
        :root{--paper:#fff;--ink:#1a1a1a;--soft:#5a5a5a;--grid:#ddd;--c1:#D55E00;--c4:#F0C674}
        @media (prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#ececec;--soft:#b0b0b0;--grid:#34383d;--c4:#7a5c20}}
        svg{font:12px system-ui,sans-serif}.back{fill:var(--paper)}.t{fill:var(--ink)}.grid{stroke:var(--grid)}
        .axis{stroke:var(--soft)}.a1{fill:var(--c1)}.coarse{fill:var(--c4)}
        """
}
