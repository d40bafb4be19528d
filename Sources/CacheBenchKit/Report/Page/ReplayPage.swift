/// A replay as a page to look at.
public enum ReplayPage {
    /// Traces whose pictures are drawn; more would be a page that nobody reads to its end.
    private static let shownTraces = 8

    private struct Data: Encodable {
        var report: ReplayResult
        var series: [ReplaySeries]
    }

    /// The page, whole.
    ///
    /// - Parameter result: with series, as `ReplayHooks.keepsSeries` makes them.
    public static func text(_ result: ReplayResult) throws -> String {
        let total = result.traces.count == 1 ? result.traces[0] : result.total
        let name = result.traces.count == 1 ? total.trace.name : "\(Figures.count(result.traces.count)) traces"
        var page = Page(
            title: "Replay of \(name)",
            lead:
                "\(Figures.count(total.trace.frames)) frames, \(Figures.seconds(total.trace.seconds)) of panning and zooming"
                + (result.wasStopped ? "; interrupted: these are the figures so far" : "")
        )
        page.figures(Self.figures(total))
        if result.traces.count > 1 { addTraces(result, to: &page) }
        for (report, series) in zip(result.traces, result.series).prefix(Self.shownTraces) {
            if result.traces.count > 1 { page.heading("\(report.trace.source)/\(report.trace.name)") }
            ReplayPictures(report: report, series: series).add(to: &page)
        }
        if result.traces.count > Self.shownTraces {
            page.sentence(
                "Pictures are of the first \(Self.shownTraces) of \(Figures.count(result.traces.count)) traces."
            )
        }
        let shown = Array(result.series.prefix(Self.shownTraces))
        return page.text(
            data: try JSONText.embedded(Data(report: result, series: shown)),
            foot: foot(total.configuration)
        )
    }

    static func figures(_ report: ReplayReport) -> [(value: String, name: String)] {
        [
            (Figures.percent(report.demands.hitRate), "hit rate"),
            (Figures.bytes(report.memory.peakBytes), "peak memory, of \(Figures.bytes(report.memory.byteLimit))"),
            (Figures.percent(report.coverage.blank), "blank area"),
            (Figures.percent(report.loads.waste), "loads never drawn"),
            (Figures.milliseconds(report.timeToSharp.p95), "time to sharp, p95"),
        ]
    }

    static func foot(_ configuration: [String: ConfigurationValue]) -> String {
        ([ReplayFlags.versions(configuration) + ":"] + ReplayFlags.words(configuration)).joined(separator: " ")
    }

    private static func addTraces(_ result: ReplayResult, to page: inout Page) {
        let chart = BarList(
            bars: result.sources.map { .init(name: $0.trace.source, value: $0.demands.hitRate ?? 0) },
            axis: "hit rate"
        )
        page.picture(
            "Hit rate by folder",
            sentence: "All together \(Figures.percent(result.total.demands.hitRate)) of "
                + "\(Figures.count(result.total.demands.total)) demands were hits.",
            draw: chart.draw
        )
        func row(_ report: ReplayReport, _ name: String) -> [String] {
            [
                name, Figures.count(report.demands.total), Figures.percent(report.demands.hitRate),
                Figures.percent(report.demands.pan.hitRate), Figures.percent(report.demands.zoom.hitRate),
                Figures.percent(report.coverage.blank), Figures.percent(report.loads.waste),
                Figures.milliseconds(report.timeToSharp.p95), Figures.bytes(report.memory.peakBytes),
                Figures.bytes(report.memory.byteLimit),
            ]
        }
        page.table(
            "Traces",
            columns: ["trace", "demands", "hits", "pan", "zoom", "blank", "waste", "sharp p95", "peak", "limit"],
            rows: result.traces.map { row($0, "\($0.trace.source)/\($0.trace.name)") } + [row(result.total, "all")],
            extra: ["demands", "pan", "zoom", "sharp p95", "peak", "limit"]
        )
    }
}

/// Shares side by side, a line each.
struct BarList {
    struct Bar {
        var name: String
        var value: Double
    }

    var bars: [Bar]
    var axis: String

    func draw(_ size: ChartSize) -> SVG {
        let row = 22.0
        // Names are short, so that many wide letters in one are nothing rare.
        let letter = ChartSize.letter * 1.2
        let name = min(Double(bars.map(\.name.count).max() ?? 0) * letter + 12, size.width * 0.4)
        var svg = SVG(width: size.width, height: Double(bars.count) * row + 30)
        let room = size.width - name - 60
        for (index, bar) in bars.enumerated() {
            let y = Double(index) * row
            let letters = max(Int(((name - 12) / letter).rounded()), 4)
            svg.text(bar.name.shortened(to: letters), name - 6, y + 15, .end)
            svg.rectangle(name, y + 3, room * min(max(bar.value, 0), 1), row - 7, "a0")
            svg.text(Figures.percent(bar.value), name + room * min(max(bar.value, 0), 1) + 5, y + 15)
        }
        let bottom = Double(bars.count) * row
        svg.line(name, bottom, name + room, bottom, "axis")
        svg.text("0%", name, bottom + 16, .middle)
        svg.text("\(axis), 100%", name + room, bottom + 16, .end)
        return svg
    }
}
