package enum ComparePage {
    /// A policy has the same look in every picture, and on the page of `tune`.
    private static let looks = [
        "tilecache", "none", "oracle", "ring", "velocity", "skewport", "gaussian", "zoom4",
    ]

    package static func text(_ report: CompareReport) throws -> String {
        let sources = report.totals.grouped(by: \.source)
        let traces = Set(report.rows.map { "\($0.source)/\($0.trace ?? "")" }).count
        var page = Page(
            title: "Policies compared",
            lead: "\(count: traces) \(traces == 1 ? "trace" : "traces") from "
                + "\(sources.map(\.key.sourceTitle).joined(separator: ", ")), with the same budgets, workers and load times"
                + (report.interrupted ? "; interrupted: these are the rows that were done" : "")
        )
        // Rows of one source are pooled already.
        let pooled = sources.count > 1 ? Self.pooled(report.totals) : report.totals
        let ahead = Self.atMost(pooled, oracle: false)
        if let best = ahead.first, best.hitRate != nil {
            let others = ahead.map(\.policy).unique.count - 1
            let policy = best.policy + (others > 0 ? " and \(others) more" : "")
            var figures = [
                (policy, "most hits of policies that do not know the future"),
                (Figures.percent(best.hitRate), "its hit rate at \(bytes: best.byteLimit)"),
            ]
            if let oracle = Self.atMost(pooled, oracle: true).first {
                figures.append((Figures.percent(oracle.hitRate), "hit rate of the oracle there"))
            }
            page.figures(figures)
        }
        for line in LimitWarning.lines(report) { page.warning(line) }
        for note in TraceNotes.lines(report.traces) { page.sentence(note) }
        add(pooled, sources.count > 1 ? "all traces" : sources.first?.key.sourceTitle ?? "", to: &page)
        // Over all sources together only these can be pooled: the other rates are of counts that rows do not have.
        addTable(pooled, isPooled: sources.count > 1, to: &page)
        for (index, source) in sources.enumerated() where sources.count > 1 {
            page.heading(source.key.sourceTitle, id: "source-\(index + 1)")
            add(source.elements, source.key.sourceTitle, to: &page)
            addTable(source.elements, isPooled: false, to: &page)
        }
        return page.text(
            data: try JSONText.embedded(report),
            foot: ReplayPage.foot(report.configuration, command: "compare")
                + "; gap is the share of the way from no prefetch to the oracle with the same budget, blank and coarse are "
                + "millions of screen pixels times seconds"
        )
    }

    /// Adds a table by budget, the most hits first.
    private static func addTable(_ rows: [CompareRow], isPooled: Bool, to page: inout Page) {
        func order(_ row: CompareRow) -> (Double, Double) {
            (row.screens ?? Double(row.tiles ?? row.byteLimit), -(row.hitRate ?? -1))
        }
        let columns: [(name: String, value: (CompareRow) -> String)] = [
            ("budget", { $0.budgetTitle }),
            ("policy", { $0.policy }), ("hits", { Figures.percent($0.hitRate) }),
            ("gap", { Figures.percent($0.gapClosed) }), ("blank", { Figures.mega($0.blankPixelMilliseconds) }),
            ("coarse", { Figures.mega($0.fallbackPixelMilliseconds) }), ("waste", { Figures.percent($0.waste) }),
            ("sharp", { Figures.percent($0.sharp) }), ("pan", { Figures.percent($0.panHitRate) }),
            ("zoom", { Figures.percent($0.zoomHitRate) }), ("effort", { Figures.decimal($0.effort, places: 2) }),
            ("loaded", { Figures.bytes($0.loadedBytes) }), ("limit", { Figures.bytes($0.byteLimit) }),
        ]
        let ofSources: Set = ["gap", "waste", "sharp", "pan", "zoom", "loaded"]
        let shown = columns.filter { !isPooled || !ofSources.contains($0.name) }
            .filter { $0.name != "effort" || CompareText.showsEffort(rows) }
        page.table(
            "By budget, the most hits first",
            columns: shown.map(\.name),
            cells: rows.sorted { order($0) < order($1) }.map { row in shown.map { Page.Cell($0.value(row)) } },
            names: 2,
            extra: ["pan", "zoom", "waste", "sharp", "effort", "loaded", "limit", "coarse"]
        )
    }

    /// Rows with the most hits at the largest budget: the oracle's, or others'. More than one if they have equal hits.
    private static func atMost(_ rows: [CompareRow], oracle: Bool) -> [CompareRow] {
        // Tables added to a limit differ a little between policies: each has its own largest limit.
        let largest = Dictionary(grouping: rows, by: \.policy).mapValues { $0.map(\.byteLimit).max() ?? 0 }
        let last = rows.filter {
            ($0.policy == PrefetchKind.oracle.rawValue) == oracle && $0.byteLimit == largest[$0.policy]
        }
        let most = last.compactMap(\.hitRate).max()
        return last.filter { $0.hitRate == most }
    }

    /// Pools the rows of all sources: rates weighted by their demands.
    static func pooled(_ rows: [CompareRow]) -> [CompareRow] {
        struct Key: Hashable {
            var policy: String
            var budget: String
            var effort: Double?
        }
        let groups = rows.grouped {
            // At equal loads each source has its own effort.
            Key(policy: $0.policy, budget: $0.budget, effort: $0.targetLoads == nil ? $0.effort : nil)
        }
        return groups.compactMap { _, rows in
            guard var sum = rows.first, rows.count > 1 else { return rows.first }
            let demands = rows.reduce(0) { $0 + $1.demands }
            let hits = rows.reduce(0.0) { $0 + ($1.hitRate ?? 0) * Double($1.demands) }
            sum.demands = demands
            sum.hitRate = demands == 0 ? nil : hits / Double(demands)
            sum.byteLimit = rows.map(\.byteLimit).max() ?? sum.byteLimit
            sum.blankPixelMilliseconds = rows.reduce(0) { $0 + $1.blankPixelMilliseconds }
            sum.fallbackPixelMilliseconds = rows.reduce(0) { $0 + $1.fallbackPixelMilliseconds }
            sum.gapClosed = nil
            return sum
        }
    }

    private static func add(_ rows: [CompareRow], _ name: String, to page: inout Page) {
        let showsEffort = CompareText.showsEffort(rows)
        func label(_ row: CompareRow) -> String {
            // Searched efforts differ from budget to budget, and belong to one line.
            row.targetLoads == nil ? CompareText.policy(row, showsEffort: showsEffort) : row.policy
        }
        let largest = Double(rows.map(\.byteLimit).max() ?? 1)
        func lines(_ value: (CompareRow) -> Double?) -> [ChartSeries] {
            rows.grouped(by: label).map { name, rows in
                ChartSeries(
                    name: name,
                    points: rows.sorted { $0.byteLimit < $1.byteLimit }
                        .compactMap { row in value(row).map { (Double(row.byteLimit), $0) } },
                    look: rows.first.flatMap { looks.firstIndex(of: $0.policy) } ?? 0
                )
            }
        }
        func budget(_ size: ChartSize) -> Axis {
            Axis(title: "memory limit", unit: .bytes, upTo: largest, tickCount: size.xTicks)
        }
        let ahead = atMost(rows, oracle: false)
        let equally = ahead.map(\.policy).unique.count - 1
        var sentence =
            "With \(bytes: ahead.first?.byteLimit ?? Int(largest)) \(ahead.first?.policy ?? Figures.none) hits "
            + Figures.percent(ahead.first?.hitRate) + (equally > 0 ? " (so do \(equally) more)" : "")
        if let oracle = atMost(rows, oracle: true).first {
            sentence += ", the oracle, which knows the future, \(percent: oracle.hitRate)"
        }
        page.picture(
            "Hit rate by memory limit: \(name)",
            sentence: ahead.first?.hitRate == nil ? "There were no demands." : sentence + ".",
            draw: LineChart(x: budget, y: Axis(title: "hit rate", unit: .share, upTo: 1), series: lines(\.hitRate)).draw
        )
        let blank = lines { $0.blankPixelMilliseconds / 1e9 }
        let most = blank.flatMap(\.points).map(\.y).max() ?? 0
        let others = rows.filter { $0.policy != PrefetchKind.oracle.rawValue }
        let least = others.min { $0.blankPixelMilliseconds < $1.blankPixelMilliseconds }
        let asLittle = others.filter { $0.blankPixelMilliseconds == least?.blankPixelMilliseconds }
        let equals = asLittle.map(label).unique.count - 1
        page.picture(
            "Blank area by memory limit: \(name)",
            sentence: most == 0
                ? "Nothing was ever blank."
                : "Least is blank with \(least?.policy ?? Figures.none) and \(bytes: least?.byteLimit ?? 0)"
                    + (equals > 0 ? " (\(equals) more have as little): " : ": ")
                    + "\(Figures.mega(least?.blankPixelMilliseconds ?? 0)) millions of screen pixels times seconds.",
            draw: LineChart(
                x: budget,
                y: Axis(title: "blank, Mpx s", unit: .plain, upTo: max(most, 0.01)),
                series: blank
            ).draw
        )
    }
}
