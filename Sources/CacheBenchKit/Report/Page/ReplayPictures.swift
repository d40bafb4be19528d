struct ReplayPictures {
    let report: ReplayReport
    let series: ReplaySeries
    /// Distinguishes ids of this replay from those of others on the page.
    var id = "replay"

    func add(to page: inout Page) {
        moments(&page)
        area(&page, "Blank area over time", "blank", "a1", \.blankPixels, report.coverage.blank)
        area(&page, "Coarse area over time", "coarse or finer", "a4", \.coarsePixels, report.coverage.fallback)
        memory(&page)
        demands(&page)
        map(&page)
        waits(&page)
    }

    private func values(_ value: (ReplaySeries.Bucket) -> Int) -> [Double] { series.buckets.map { Double(value($0)) } }

    private var seconds: Double { max(Double(series.buckets.count) * series.bucketSeconds, 0.001) }

    private func time(_ size: ChartSize) -> Axis {
        // Not rounded up: an empty end of the axis would look like data.
        Axis(title: "time", unit: .seconds, upTo: seconds, tickCount: size.xTicks)
    }

    private var link: String { "\(id)-moment-" }

    private func moments(_ page: inout Page) {
        guard !series.moments.isEmpty else {
            return page.sentence("Nothing that a frame needed was ever missing.")
        }
        page.table(
            "Worst moments",
            columns: ["#", "at", "for", "blank", "coarse", "tiles", "place", "scale", "px/s", "oct/s", "cause"],
            cells: series.moments.enumerated().map { index, moment in
                let zoom = abs(moment.zoomSpeed) > 0.1 ? Figures.decimal(moment.zoomSpeed) : Figures.none
                func whole(_ value: Double) -> String { Figures.decimal(value, places: 0) }
                return [
                    Page.Cell("\(index + 1)", id: "\(link)\(index + 1)"),
                    "\(Figures.decimal(moment.seconds, places: 2)) s",
                    "\(seconds: moment.duration)", "\(percent: moment.blank)", "\(percent: moment.coarse)",
                    "\(count: moment.missingTiles)", "\(whole(moment.x)), \(whole(moment.y))",
                    "\(Figures.scale(moment.scale))", "\(whole(moment.speed))", "\(zoom)",
                    "\(moment.cause.text)",
                ]
            },
            names: 0,
            texts: ["cause"],
            extra: ["for", "tiles", "place", "scale", "px/s", "oct/s"]
        )
        page.sentence(
            "Shares are those of the worst frame; the order is by blank, then by coarse area times time. The numbers stand "
                + "on the map and over the areas below. px/s and oct/s are the speeds of pan and zoom."
        )
    }

    /// Adds a fraction of the screen over time, on its own axis. Blank area is comparatively small.
    private func area(
        _ page: inout Page,
        _ heading: String,
        _ name: String,
        _ style: String,
        _ pixels: (ReplaySeries.Bucket) -> Double,
        _ share: Double?
    ) {
        let values = series.buckets.map { $0.share(pixels($0)) }
        let most = values.max() ?? 0
        guard most > 0 else { return page.sentence("\(heading): none.") }
        let chart = StackedChart(
            stride: series.bucketSeconds,
            x: time,
            y: Axis(title: "share of the screen", unit: .share, upTo: min(most * 1.05, 1)),
            layers: [.init(name: name, style: style, values: values)],
            spots: (link, series.moments.map(\.seconds))
        )
        page.picture(
            heading,
            sentence: "At most \(percent: most) of the screen in any \(seconds: series.bucketSeconds); "
                + "\(percent: share) over the frames that moved or lacked a tile.",
            draw: chart.draw
        )
    }

    private func memory(_ page: inout Page) {
        let memory = report.memory
        let chart = StackedChart(
            stride: series.bucketSeconds,
            x: time,
            y: Axis(title: "memory", unit: .bytes, upTo: Double(max(memory.byteLimit, memory.peakBytes)) * 1.02),
            layers: [
                .init(name: "bookkeeping", style: "a6", values: values(\.bookkeepingBytes)),
                .init(name: "decoded", style: "a0", values: values(\.decodedBytes)),
                .init(name: "in flight", style: "a4", values: values(\.inFlightBytes)),
                .init(name: "compressed", style: "a2", values: values(\.compressedBytes)),
                .init(name: "kept for the next tile", style: "a3", values: values(\.unusedBytes)),
            ].filter { layer in layer.values.contains { $0 > 0 } },
            horizontals: [ChartRule(value: Double(memory.byteLimit), name: "limit", style: "limit")]
        )
        page.picture(
            "Memory over time, by tier",
            sentence:
                "At most \(bytes: memory.peakBytes) of the limit of \(bytes: memory.byteLimit) were "
                + "in use, \(percent: memory.peakBytes, of: memory.byteLimit).",
            draw: chart.draw
        )
    }

    private func demands(_ page: inout Page) {
        let demands = report.demands
        let most = series.buckets.map { Double($0.demands) }.max() ?? 0
        let stretch = Figures.seconds(series.bucketSeconds)
        let chart = StackedChart(
            stride: series.bucketSeconds,
            x: time,
            y: Axis(title: "demands in \(stretch)", unit: .count, upTo: max(most, 4)),
            layers: [
                .init(name: "decoded hits", style: "a0", values: values(\.decodedHits)),
                .init(name: "compressed hits", style: "a2", values: values(\.compressedHits)),
                .init(name: "late", style: "a4", values: values(\.late)),
                .init(name: "missed", style: "a1", values: values(\.missed)),
            ]
        )
        page.picture(
            "Demands over time, by outcome",
            sentence:
                demands.total == 0
                ? "There were no demands."
                : "Of \(count: demands.total) demands \(percent: demands.hitRate) were resident when a "
                    + "frame first needed them, \(percent: demands.late, of: demands.total) were on their way and "
                    + "\(percent: demands.missed, of: demands.total) were not even started.",
            draw: chart.draw
        )
    }

    private func map(_ page: inout Page) {
        guard !series.tiles.isEmpty || series.path.count > 1 else { return }
        let chart = MapChart(series: series, link: link)
        guard !series.tiles.isEmpty else {
            return page.picture(
                "The way over the world",
                sentence:
                    "Where the middle of the screen was, with the worst moments; the loaded tiles are recorded under the virtual clock only.",
                draw: chart.draw
            )
        }
        let counts = Dictionary(grouping: series.tiles, by: \.use).mapValues(\.count)
        func count(_ use: ReplaySeries.Use) -> String { Figures.count(counts[use] ?? 0) }
        let rest =
            series.forgottenTiles > 0
            ? " \(count: series.forgottenTiles) later loads of still other tiles are not on the map." : ""
        page.picture(
            "The world, and what became of its tiles",
            sentence:
                "Of \(count: series.tiles.count) tiles that were loaded \(count(.prefetched)) were there before "
                + "they were needed, \(count(.drawn)) were loaded when they were needed, and \(count(.wasted)) "
                + "(\(percent: counts[.wasted] ?? 0, of: series.tiles.count)) were never drawn; all levels lie upon "
                + "each other, finer ones on top. Numbers are the worst moments." + rest,
            draw: chart.draw
        )
    }

    /// Adds a histogram of waits until tiles were drawn.
    private func waits(_ page: inout Page) {
        let (waits, percentiles) = (series.waits, report.timeToSharp)
        let total = waits.reduce(0) { $0 + $1.count }
        guard total > 0, let longest = waits.last?.milliseconds else {
            return page.sentence("Time to sharp: no tile had to be waited for.")
        }
        var seen = 0
        var points: [(x: Double, y: Double)] = [(0, 0)]
        for wait in waits {
            seen += wait.count
            points.append((wait.milliseconds, Double(seen) / Double(total)))
        }
        // The longest hundredth would compress all others into a corner.
        let end = min(longest, (percentiles.p99 ?? longest) * 1.25)
        let chart = LineChart(
            x: { Axis(title: "time to sharp", unit: .milliseconds, upTo: end, tickCount: $0.xTicks) },
            y: Axis(title: "share drawn by then", unit: .share, upTo: 1),
            series: [
                ChartSeries(
                    name: "tiles that were no hits",
                    points: points,
                    look: 0,
                    showsMarkers: false,
                    isStepped: true
                )
            ],
            verticals: [("p50", percentiles.p50), ("p95", percentiles.p95), ("p99", percentiles.p99)].compactMap {
                mark in
                mark.1.map { ChartRule(value: $0, name: "\(mark.0) \(milliseconds: $0)", style: "rule") }
            }
        )
        page.picture(
            "Time to sharp",
            sentence: "Of \(count: total) tiles that were no hits half could be drawn within "
                + "\(milliseconds: percentiles.p50), 95 % within \(milliseconds: percentiles.p95), and the "
                + "slowest after \(milliseconds: longest).",
            draw: chart.draw
        )
    }
}

extension ReplaySeries.Cause {
    var text: String {
        switch self {
        case .start: "first frame: nothing is loaded yet"
        case .limit: "limit: holds fewer tiles than the frame needs"
        case .evicted: "evicted: loaded before, had to make room"
        case .jump: "jump: farther than a screen at once"
        case .zoomIn: "zoom in: finer tiles not loaded in time"
        case .zoomOut: "zoom out: coarser tiles not loaded in time"
        case .late: "late: most tiles were being loaded"
        case .pan: "pan: nothing had been loaded there"
        }
    }
}

extension Figures {
    /// `1:64`, `2:1`: screen pixels to world pixels.
    fileprivate static func scale(_ value: Double) -> String {
        guard value > 0, value.isFinite else { return none }
        func text(_ value: Double) -> String { value < 10 ? decimal(value) : decimal(value, places: 0) }
        return value < 1 ? "1:\(text(1 / value))" : "\(text(value)):1"
    }
}
