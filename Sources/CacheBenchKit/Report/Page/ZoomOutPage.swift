package enum ZoomOutPage {
    package static func text(_ report: ZoomoutReport) throws -> String {
        let rows = report.rows.sorted { $0.factor < $1.factor }
        var page = Page(
            title: "Zooming out",
            lead: "What a view needs in memory when it is zoomed out, by how it is drawn"
                + (report.interrupted ? "; interrupted: these are the factors that were done" : "")
        )
        if let warning = LimitWarning.text(report) { page.warning(warning) }
        let data = try JSONText.embedded(report)
        let foot = ReplayPage.foot(report.configuration, command: "zoomout")
        guard let last = rows.last else {
            page.sentence("There are no rows.")
            return page.text(data: data, foot: foot)
        }
        let factor = Figures.short(last.factor)
        page.figures([
            (Figures.bytes(last.bitmapBytes), "one bitmap, zoomed out \(factor) times"),
            (Figures.bytes(last.neededBytes), "needed tiles of the level that is drawn"),
            (Figures.bytes(last.peakBytes), "the cache at its peak"),
            (Figures.percent(last.blank), "blank area"),
        ])
        addCurves(rows, to: &page)
        addTable(rows, to: &page)
        return page.text(data: data, foot: foot)
    }

    private static func addCurves(_ rows: [ZoomoutReport.Row], to page: inout Page) {
        guard let first = rows.first, let last = rows.last else { return }
        let factor = Figures.short(last.factor)
        let lines: [(String, (ZoomoutReport.Row) -> Double)] = [
            ("one bitmap", { Double($0.bitmapBytes) }), ("full-resolution tiles", { Double($0.fullResolutionBytes) }),
            ("needed tiles", { Double($0.neededBytes) }), ("most in use", { Double($0.peakBytes) }),
        ]
        let times = last.neededBytes > 0 ? Double(last.bitmapBytes) / Double(last.neededBytes) : 0
        let across = Axis(
            logarithmic: "zoomed out, times",
            unit: .count,
            from: first.factor,
            upTo: last.factor,
            base: 2
        )
        let values = rows.flatMap { row in lines.map { $0.1(row) } }.filter { $0 > 0 }
        page.picture(
            "Memory by how far it is zoomed out",
            sentence:
                "Zoomed out \(factor) times one bitmap takes \(bytes: last.bitmapBytes), the tiles that the screen "
                + "needs take \(bytes: last.neededBytes): "
                + "\(Figures.decimal(times, places: times < 100 ? 1 : 0)) times less.",
            draw: LineChart(
                x: { _ in across },
                y: Axis(logarithmic: "memory", unit: .bytes, from: values.min() ?? 1, upTo: values.max() ?? 2, base: 4),
                series: lines.enumerated().map { index, line in
                    ChartSeries(
                        name: line.0,
                        points: rows.filter { line.1($0) > 0 }.map { ($0.factor, line.1($0)) },
                        look: [1, 4, 0, 2][index]
                    )
                }
            ).draw
        )
    }

    private static func addTable(_ rows: [ZoomoutReport.Row], to page: inout Page) {
        page.table(
            "Figures",
            columns: [
                "zoomed out", "one bitmap", "full resolution", "tiles", "needed", "most in use", "hits", "sharp",
                "blank",
            ],
            cells: rows.map { row in
                [
                    "\(Figures.short(row.factor)) times", "\(bytes: row.bitmapBytes)",
                    "\(bytes: row.fullResolutionBytes)",
                    "\(count: row.neededTiles)", "\(bytes: row.neededBytes)", "\(bytes: row.peakBytes)",
                    "\(percent: row.hitRate)", "\(percent: row.sharp)", "\(percent: row.blank)",
                ]
            },
            extra: ["full resolution", "tiles", "hits", "sharp", "blank"]
        )
    }
}
