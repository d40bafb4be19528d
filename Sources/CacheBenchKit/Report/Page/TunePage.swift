/// A search for a memory limit as a page: the answer first.
package enum TunePage {
    /// The suggested limit, replayed by itself on one trace.
    package struct Shown: Sendable {
        var report: ReplayReport
        var series: ReplaySeries
    }

    private struct Data: Encodable {
        var report: TuneReport
        var series: ReplaySeries?
    }

    package static func text(_ report: TuneReport, shown: Shown? = nil) throws -> String {
        let seconds = report.traces.reduce(0) { $0 + $1.seconds }
        var page = Page(
            title: report.suggested.map { "Use a memory limit of \(MemoryLimit.bytes($0.byteLimit).shown)" }
                ?? MissedTarget(report)?.title ?? "No memory limit found",
            lead: TuneText.reason(report) + " \(count: report.traces.count) "
                + (report.traces.count == 1 ? "trace" : "traces") + ", \(seconds: seconds)."
                + (report.interrupted ? " Interrupted: this is what had been found." : "")
        )
        // Where there is an answer, limits that are none are no alarm.
        let warning = LimitWarning.text(report)
        if report.answer == nil, let warning { page.warning(warning) }
        if let suggested = report.suggested {
            page.figures([
                (MemoryLimit.bytes(suggested.byteLimit).shown, "suggested limit"),
                (Figures.percent(suggested.hitRate), "hit rate at it"),
                (Figures.percent(suggested.blank), "blank area at it"),
                (report.knee.map { Figures.bytes($0.byteLimit) } ?? Figures.none, "knee of the curve"),
            ])
            if let effort = suggested.effort {
                page.sentence(
                    "Its effort is \(Figures.plain(effort)), the largest tried with at most "
                        + "\(percent: report.maximumWaste) waste, or 0 if none above 0 has so little."
                )
            }
            page.command(TuneText.command(suggested, report))
        }
        for note in TraceNotes.lines(report.traces) { page.sentence(note) }
        if report.answer != nil, let warning { page.sentence(warning) }
        MissedTarget(report)?.add(to: &page)
        addCurves(report, to: &page)
        addTable(report, to: &page)
        if let shown {
            let name = report.suggested == nil ? "nearest" : "suggested"
            page.heading("At the \(name) limit: \(shown.report.trace.name)", id: "suggested")
            ReplayPictures(report: shown.report, series: shown.series).add(to: &page)
        }
        return page.text(
            data: try JSONText.embedded(Data(report: report, series: shown?.series)),
            foot: ReplayPage.foot(report.configuration, command: "tune")
        )
    }

    /// Adds the rows, with those options of variants that differ. A telephone has no room for all.
    private static func addTable(_ report: TuneReport, to page: inout Page) {
        let all: [(name: String, value: (TuneReport.Row) -> String)] = [
            ("effort", { $0.effort.map { Figures.decimal($0, places: 3) } ?? Figures.none }),
            ("workers", { Figures.count($0.workers) }), ("tile", { $0.tileSize.map { "\($0) px" } ?? "trace's" }),
            ("compr.", { $0.compressedShare.map { Figures.percent($0) } ?? "adapt" }),
            ("store", { $0.storeLimit.map { Figures.bytes($0) } ?? Figures.none }),
            ("source", { $0.sourceLoads.map { Figures.count($0) } ?? Figures.none }),
        ]
        let options = all.filter { option in
            Set(report.rows.map(option.value)).count > 1 || (option.name == "effort" && report.maximumWaste != nil)
        }
        let mark = report.suggested == nil ? " (nearest)" : " (suggested)"
        page.table(
            "Budgets tried",
            columns: ["policy", "limit", "hits", "blank", "waste", "sharp", "peak", "target"] + options.map(\.name),
            cells: (report.rows + report.policies).map { row in
                ([
                    row.policy
                        + (report.isAnswer(row) && row.policy == report.rows.first?.policy ? mark : ""),
                    Figures.bytes(row.byteLimit), Figures.percent(row.hitRate), Figures.percent(row.blank),
                    Figures.percent(row.waste), Figures.percent(row.sharp), Figures.bytes(row.peakBytes),
                    row.shortfallBytes > 0
                        ? "too small" : row.meetsTarget.map { $0 ? "met" : "missed" } ?? Figures.none,
                ] + options.map { $0.value(row) }).map { Page.Cell($0) }
            },
            marked: report.rows.firstIndex(where: report.isAnswer),
            extra: options.isEmpty ? ["sharp", "peak", "target"] : ["waste", "sharp", "peak", "target", "blank"]
        )
    }

    private static func addCurves(_ report: TuneReport, to page: inout Page) {
        let curves = TuneCurves(report)
        page.picture(
            "Hit rate by memory limit",
            sentence: sentence(report, curves.beside)
                + (curves.shown.map { curves.variants.count > 1 ? " All lines are of \($0.name)." : "" } ?? ""),
            draw: curves.hitRates.draw
        )
        if curves.variants.count > 1 { curves.addVariants(to: &page) }
        curves.addShare("Blank area", "blank share of the area", \.blank, look: 1, to: &page)
        curves.addShare("Waste", "share of loads never drawn", \.waste, look: 3, to: &page)
    }

    private static func sentence(_ report: TuneReport, _ beside: [TuneReport.Row]) -> String {
        guard let answer = report.answer else { return TuneText.reason(report) }
        guard answer.hitRate != nil else { return "There were no demands." }
        var text = "At \(bytes: answer.byteLimit) \(percent: answer.hitRate) of demands are hits"
        if let oracle = beside.last(where: { $0.policy == "oracle" && $0.byteLimit <= answer.byteLimit }) {
            text +=
                "; an oracle that knows the future reaches \(percent: oracle.hitRate) with "
                + Figures.bytes(oracle.byteLimit)
        }
        if let lru = report.largestLRU(within: answer.byteLimit) {
            text +=
                "; plain LRU of as many bytes of decoded tiles, without prefetch, would hit "
                + "\(percent: lru.demandHitRate) if loads took no time"
        }
        return text + "."
    }
}

/// The lines of a search by memory limit.
private struct TuneCurves {
    typealias Variant = (name: String, rows: [TuneReport.Row])

    let report: TuneReport
    let variants: [Variant]
    /// Of several variants that of the answer is shown, with its own baseline and oracle.
    let shown: Variant?
    /// Rows of the shown variant, and of the other policies beside it.
    let own: [TuneReport.Row]
    let beside: [TuneReport.Row]
    private let largest: Double

    init(_ report: TuneReport) {
        self.report = report
        variants = Self.variants(of: report)
        shown = variants.first { $0.rows.contains(where: report.isAnswer) } ?? variants.first
        own = shown?.rows ?? []
        beside = report.policies.filter { [own] in $0.variant == own.first?.variant }
        largest = Double((report.rows + report.policies).map(\.byteLimit).max() ?? 1)
    }

    /// Rows of each variant, named by the options that differ: a telephone has no room for more.
    private static func variants(of report: TuneReport) -> [Variant] {
        let parts: [(TuneReport.Row) -> String] = [
            { "\($0.workers) workers" }, { $0.tileSize.map { "\($0) px" } ?? "trace's tiles" },
            { $0.compressedShare.map { "\(percent: $0) compr." } ?? "adaptive" },
            { $0.storeLimit.map { "store \(bytes: $0)" } ?? "no limit" },
        ]
        let options = parts.filter { Set(report.rows.map($0)).count > 1 }
        return report.rows.grouped { row in options.map { $0(row) }.joined(separator: ", ") }
            .map { (name: $0.key, rows: $0.elements) }
    }

    private func points(_ rows: [TuneReport.Row]) -> [(x: Double, y: Double)] {
        rows.sorted { $0.byteLimit < $1.byteLimit }.compactMap { row in
            row.hitRate.map { (Double(row.byteLimit), $0) }
        }
    }

    private func budget(_ size: ChartSize) -> Axis {
        Axis(title: "memory limit", unit: .bytes, upTo: largest, tickCount: size.xTicks)
    }

    private var share: Axis { Axis(title: "hit rate", unit: .share, upTo: 1) }

    /// The answer and the knee.
    private var marks: [ChartRule] {
        var marks: [ChartRule] = []
        if let answer = report.answer {
            let name = report.suggested == nil ? "nearest" : "suggested"
            marks.append(ChartRule(value: Double(answer.byteLimit), name: name, style: "answer"))
        }
        if let knee = report.knee, knee.byteLimit != report.answer?.byteLimit {
            marks.append(ChartRule(value: Double(knee.byteLimit), name: "knee", style: "rule"))
        }
        return marks
    }

    /// The policy, others, and plain LRU.
    private var series: [ChartSeries] {
        var series = [ChartSeries(name: own.first?.policy ?? "-", points: points(own), look: 0)]
        for (index, policy) in beside.map(\.policy).unique.enumerated() {
            let name = policy == "none" ? "no prefetch" : policy
            series.append(
                ChartSeries(name: name, points: points(beside.filter { $0.policy == policy }), look: index + 1)
            )
        }
        let tileBytes = Double(report.slotBytes)
        let lru = report.lruCurve.filter { Double($0.tiles) * tileBytes <= largest }
        // The curve is of the first variant's tiles.
        guard !lru.isEmpty, own.first?.tileSize == report.rows.first?.tileSize else { return series }
        let line = lru.compactMap { point in point.demandHitRate.map { (Double(point.tiles) * tileBytes, $0) } }
        return series + [ChartSeries(name: "plain LRU, instant loads", points: line, look: 6, showsMarkers: false)]
    }

    var hitRates: LineChart {
        var levels: [ChartRule] = []
        if let target = report.target, target.field == "hitRate" {
            levels.append(ChartRule(value: target.value, name: "target", style: "limit"))
        }
        return LineChart(x: budget, y: share, series: series, verticals: marks, horizontals: levels)
    }

    /// Adds the hit rates of all variants.
    func addVariants(to page: inout Page) {
        // There are as many looks of lines as a picture can have without repeating one.
        let most = 7
        let others = variants.filter { $0.name != shown?.name }
        let drawn = variants.count > most ? [shown].compactMap { $0 } + others.prefix(most - 1) : variants
        let rest = variants.count - drawn.count
        page.picture(
            "Hit rate by memory limit, of each set of options",
            sentence: "Each line is one combination of options."
                + (report.suggested.map { " The suggested limit is \(bytes: $0.byteLimit)." } ?? "")
                + (rest > 0 ? " \(count: rest) more are in the table." : ""),
            draw: LineChart(
                x: budget,
                y: share,
                series: drawn.enumerated().map { index, variant in
                    ChartSeries(name: variant.name, points: points(variant.rows), look: index)
                },
                verticals: marks
            ).draw
        )
    }

    /// Adds another figure of the shown variant.
    func addShare(
        _ heading: String,
        _ name: String,
        _ value: (TuneReport.Row) -> Double?,
        look: Int,
        to page: inout Page
    ) {
        let points: [(x: Double, y: Double)] = own.compactMap { row in
            value(row).map { (Double(row.byteLimit), $0) }
        }
        page.picture(
            "\(heading) by memory limit",
            sentence: "From the smallest to the largest limit the \(name) goes from \(percent: points.first?.y) to "
                + "\(percent: points.last?.y).",
            draw: LineChart(
                x: budget,
                y: Axis(title: name, unit: .share, upTo: min(max(points.map(\.y).max() ?? 0, 0.0001) * 1.05, 1)),
                series: [ChartSeries(name: name, points: points, look: look)],
                verticals: marks
            ).draw
        )
    }
}
