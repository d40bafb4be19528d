extension JSONTree {
    /// Fields of a comparison's report with one row, to check paths before a long run.
    package static func emptyComparison(_ comparison: Compare) -> JSONTree? {
        let row = CompareRow(
            source: "",
            policy: "",
            budget: "",
            byteLimit: 0,
            workers: 0,
            loadLatency: 0,
            effort: 0,
            demands: 0,
            blankPixelMilliseconds: 0,
            fallbackPixelMilliseconds: 0,
            loads: 0,
            loadedBytes: 0,
            prefetchRequests: 0
        )
        let options = comparison.options
        var report = CompareReport(rows: [row], totals: [row], configuration: comparison.shared(by: options))
        if options.cost != .none { (report.chargedRows, report.chargedTotals) = ([row], [row]) }
        return try? JSONTree(encoding: report)
    }

    /// Fields of a search's report with one row of each kind, to check paths before a long run.
    package static func emptySearch(_ options: TuneOptions) -> JSONTree? {
        let row = TuneReport.Row(byteLimit: 0, peakBytes: 0, policy: "", workers: 0, effort: options.maximumWaste)
        let report = TuneReport(
            rows: [row],
            policies: [row],
            lruCurve: [TuneReport.LRUPoint(tiles: 0, hits: 0)],
            lruAccesses: 0,
            knee: TuneReport.Knee(byteLimit: 0),
            suggested: TuneReport.Suggestion(row, flags: "", reason: ""),
            nearest: TuneReport.Suggestion(row, flags: "", reason: ""),
            steps: [TuneReport.Step(byteLimit: 0)],
            alternatives: [TuneReport.Alternative(change: "", flags: "", meetsTarget: false)],
            oneStepSmaller: row,
            target: options.target.map { _ in TuneReport.Target(field: "", value: 0) },
            maximumWaste: options.maximumWaste,
            slotBytes: 0,
            stepBytes: 0,
            interrupted: false,
            configuration: options.configuration,
            traces: [ReplayReport.Trace(name: "", source: "", hash: "", frames: 0, seconds: 0)]
        )
        return try? JSONTree(encoding: report)
    }
}
