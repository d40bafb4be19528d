package enum ReplayPage {
    /// Maximum number of traces with pictures, for the page's length.
    private static let shownTraces = 8

    private struct Data: Encodable {
        var report: ReplayResult
        var series: [ReplaySeries]
    }

    /// - Parameter result: With series, as `ReplayHooks.keepsSeries` makes them.
    package static func text(_ result: ReplayResult) throws -> String {
        let total = result.traces.count == 1 ? result.traces[0] : result.total
        let name = result.traces.count == 1 ? total.trace.name : "\(count: result.traces.count) traces"
        var page = Page(
            title: "Replay of \(name)",
            lead:
                "\(count: total.trace.frames) frames, \(seconds: total.trace.seconds) of panning and zooming"
                + (result.wasStopped ? "; interrupted: these are the figures so far" : "")
        )
        if let (text, isGood) = Verdict.text(result) {
            if isGood { page.sentence(text) } else { page.warning(text) }
        }
        for note in TraceNotes.lines(result.traces.map(\.trace)) { page.sentence(note) }
        page.figures(Self.figures(total))
        if let summary = total.prefetch.summary {
            page.sentence("Prefetched: \(summary). Needed before they had come: \(count: total.prefetch.late).")
        }
        addTiers(total, to: &page)
        let order = worstFirst(result)
        let shown = result.series.count == result.traces.count ? Array(order.prefix(shownTraces)) : []
        if result.traces.count > 1 { addTraces(result, order, shown: shown.count, to: &page) }
        for (place, index) in shown.enumerated() {
            let report = result.traces[index]
            let id = "trace-\(place + 1)"
            if result.traces.count > 1 { page.heading(Self.name(report), id: id) }
            ReplayPictures(report: report, series: result.series[index], id: id).add(to: &page)
        }
        return page.text(
            data: try JSONText.embedded(Data(report: result, series: shown.map { result.series[$0] })),
            foot: foot(total.configuration)
        )
    }

    private static func name(_ report: ReplayReport) -> String { "\(report.trace.source)/\(report.trace.name)" }

    /// Indices of the traces: by blank area times time, then coarse area, then hit rate. The first frame, always a cold
    /// start, does not count.
    private static func worstFirst(_ result: ReplayResult) -> [Int] {
        func badness(_ index: Int) -> (Double, Double, Double, Int) {
            let report = result.traces[index]
            let coverage = report.coverage
            let start =
                result.series.indices.contains(index)
                ? result.series[index].moments.first { $0.cause == .start } : nil
            let misses = 1 - (report.demands.hitRate ?? 1)
            return (
                coverage.blankPixelMilliseconds - (start?.blankPixelMilliseconds ?? 0),
                coverage.fallbackPixelMilliseconds - (start?.coarsePixelMilliseconds ?? 0), misses, -index
            )
        }
        return result.traces.indices.sorted { badness($0) > badness($1) }
    }

    static func figures(_ report: ReplayReport) -> [(value: String, name: String)] {
        [
            (Figures.percent(report.demands.hitRate), "hit rate"),
            (Figures.bytes(report.memory.peakBytes), "peak memory, of \(bytes: report.memory.byteLimit)"),
            (Figures.percent(report.coverage.blank), "blank area"),
            (Figures.percent(report.loads.waste), "loads never drawn"),
            (Figures.milliseconds(report.timeToSharp.p95), "time to sharp, p95"),
        ]
    }

    /// Command and flags that reproduce the page's figures.
    static func foot(_ configuration: [String: ConfigurationValue], command: String = "replay") -> String {
        // `tune` chooses limits itself, under the virtual clock.
        let own = command == "tune" ? ["--memory-limit", "--clock"] : []
        let words = ReplayFlags.words(configuration).filter { word in !own.contains { word.hasPrefix($0 + " ") } }
        return ([ReplayFlags.versions(configuration) + ":", command] + words).joined(separator: " ")
    }

    private static func addTiers(_ report: ReplayReport, to page: inout Page) {
        guard !report.tiers.isEmpty else { return }
        let source = report.loads.started - report.tiers.reduce(0) { $0 + $1.hits }
        page.table(
            "Tiers below memory",
            columns: ["tier", "hits", "misses", "read", "written", "evicted", "not taken", "mean wait"],
            cells: report.tiers.map { tier in
                let lookups = tier.hits + tier.misses
                return [
                    "\(tier.name)", "\(count: tier.hits)", "\(count: tier.misses)", "\(bytes: tier.bytesRead)",
                    "\(bytes: tier.bytesWritten)", "\(count: tier.evictions)", "\(count: tier.refusals)",
                    "\(milliseconds: lookups == 0 ? nil : tier.waitMilliseconds / Double(lookups))",
                ]
            },
            foot: ["source", "\(count: source)", "", "", "", "", "", ""],
            extra: ["evicted", "not taken"]
        )
    }

    /// - Parameter shown: Number of the worst traces with pictures.
    private static func addTraces(_ result: ReplayResult, _ order: [Int], shown: Int, to page: inout Page) {
        let chart = BarList(
            bars: result.sources.map { .init(name: $0.trace.source.sourceTitle, value: $0.demands.hitRate ?? 0) },
            axis: "hit rate"
        )
        page.picture(
            "Hit rate by folder",
            sentence: "All together \(percent: result.total.demands.hitRate) of "
                + "\(count: result.total.demands.total) demands were hits.",
            draw: chart.draw
        )
        func row(_ report: ReplayReport, _ name: Page.Cell) -> [Page.Cell] {
            let (demands, memory) = (report.demands, report.memory)
            return [
                name, "\(count: demands.total)", "\(percent: demands.hitRate)", "\(percent: demands.pan.hitRate)",
                "\(percent: demands.zoom.hitRate)", "\(percent: report.coverage.blank)",
                "\(percent: report.loads.waste)", "\(milliseconds: report.timeToSharp.p95)",
                "\(bytes: memory.peakBytes)", "\(bytes: memory.byteLimit)",
            ]
        }
        page.table(
            "Traces",
            columns: ["trace", "demands", "hits", "pan", "zoom", "blank", "waste", "sharp p95", "peak", "limit"],
            cells: order.enumerated().map { place, index in
                let report = result.traces[index]
                return row(report, Page.Cell(Self.name(report), link: place < shown ? "trace-\(place + 1)" : nil))
            },
            foot: row(result.total, "all"),
            extra: ["demands", "pan", "zoom", "sharp p95", "peak", "limit"]
        )
        let names = order.prefix(shown).map { Self.name(result.traces[$0]) }.joined(separator: ", ")
        page.sentence(
            "The worst come first: by blank area times time after the first frame's, then by coarse area. "
                + (shown < order.count ? "Of \(count: order.count) traces these have pictures: \(names)." : "")
        )
    }
}

/// Fractions as bars, a line each.
struct BarList {
    struct Bar {
        var name: String
        var value: Double
    }

    var bars: [Bar]
    var axis: String

    func draw(_ size: ChartSize) -> SVG {
        let row = 22.0
        // Names are short, so that many wide letters in one are not rare.
        let letter = ChartSize.letter * 1.2
        let name = min(Double(bars.map(\.name.count).max() ?? 0) * letter + 12, size.width * 0.4)
        var svg = SVG(width: size.width, height: Double(bars.count) * row + 30)
        let room = size.width - name - 60
        for (index, bar) in bars.enumerated() {
            let y = Double(index) * row
            let letters = max(Int(((name - 12) / letter).rounded()), 4)
            svg.text(bar.name.shortened(to: letters), name - 6, y + 15, .end)
            svg.rectangle(name, y + 3, room * min(max(bar.value, 0), 1), row - 7, "a0")
            svg.hover(0, y, size.width, row, title: "\(bar.name): \(percent: bar.value)")
            svg.text(Figures.percent(bar.value), name + room * min(max(bar.value, 0), 1) + 5, y + 15)
        }
        let bottom = Double(bars.count) * row
        svg.line(name, bottom, name + room, bottom, "axis")
        svg.text("0%", name, bottom + 16, .middle)
        svg.text("\(axis), 100%", name + room, bottom + 16, .end)
        return svg
    }
}
