/// All figures of one trace, beginning with those that decide a memory limit.
struct ReplayCard {
    let report: ReplayReport
    let style: TextStyle

    private static let labelWidth = 21
    private static let valueWidth = 13

    var lines: [String] {
        [heading] + summary + [""] + demands + [""] + drawing + textures + [""] + loads + tiers + tileSource + [""]
            + memory
            + evictions
            + [""]
            + ReplayText.optionLines(report.configuration, style: style)
    }

    private var heading: String {
        let trace = report.trace
        let frames = Figures.count(trace.frames) + (trace.frames == 1 ? " frame" : " frames")
        let extent = "\(frames) in \(Figures.seconds(trace.seconds))"
        var name = trace.name.printable
        if !trace.path.isEmpty {
            name = trace.path.printable
        } else if !trace.source.isEmpty, trace.source != "." {
            name = trace.source.printable + "/" + name
        }
        let room = ReplayText.width - extent.count - 2
        return style.bold(name.shortened(to: room).padded(to: room)) + "  " + extent
    }

    private var summary: [String] {
        let demands = report.demands
        let memory = report.memory
        let loads = report.loads
        return [
            row(
                "hit rate",
                Figures.percent(demands.hitRate),
                "pan \(Figures.percent(demands.pan.hitRate)), zoom \(Figures.percent(demands.zoom.hitRate))",
                emphasis: style.bold
            ),
            row(
                "peak memory",
                Figures.bytes(memory.peakBytes),
                "\(Figures.percent(memory.peakBytes, of: memory.byteLimit)) of the limit, "
                    + Figures.bytes(memory.byteLimit),
                emphasis: memory.peakBytes > memory.byteLimit ? style.alarm : style.bold
            ),
            row(
                "blank",
                Figures.percent(report.coverage.blank),
                "sharp \(Figures.percent(report.coverage.sharp)), fallback \(Figures.percent(report.coverage.fallback))",
                emphasis: (report.coverage.blank ?? 0) > 0 ? style.warning : style.bold
            ),
            row(
                "waste",
                Figures.percent(loads.waste),
                "\(Figures.count(loads.unseen)) of \(Figures.count(loads.started)) loads never drawn",
                emphasis: style.bold
            ),
        ]
    }

    private var demands: [String] {
        let demands = report.demands
        func part(_ label: String, _ count: Int) -> String {
            row("  " + label, Figures.count(count), Figures.percent(count, of: demands.total))
        }
        return [
            row("demands", Figures.count(demands.total), "", isHeading: true),
            part("decoded hits", demands.decodedHits),
            part("compressed hits", demands.compressedHits),
            part("late", demands.late),
            part("missed", demands.missed),
            row("  by pan", Figures.count(demands.pan.total), "\(Figures.percent(demands.pan.hitRate)) hits"),
            row("  by zoom", Figures.count(demands.zoom.total), "\(Figures.percent(demands.zoom.hitRate)) hits"),
        ]
    }

    private var drawing: [String] {
        let coverage = report.coverage
        let wait = report.timeToSharp
        var lines = [
            row("drawn frames", Figures.count(coverage.frames), "that moved or lacked a tile", isHeading: true),
            row("  with a gap", Figures.percent(report.framesWithGap), ""),
            row(
                "  blank for",
                wholeScreen(coverage.blankPixelMilliseconds),
                "of a whole screen; fallback for \(wholeScreen(coverage.fallbackPixelMilliseconds))"
            ),
            row(
                "  deficit",
                coverage.deficit.map { Figures.decimal($0, places: 3) } ?? Figures.none,
                "levels coarser than ideal, on average"
            ),
            row(
                "  time to sharp",
                Figures.milliseconds(wait.p50),
                "in the middle; p95 \(Figures.milliseconds(wait.p95)), p99 \(Figures.milliseconds(wait.p99))"
            ),
        ]
        guard let service = report.service else { return lines }
        let waits = [
            ("needed waited", service.demandWait), ("prefetch waited", service.prefetchWait),
            ("update, frame", service.frameCost),
        ]
        for (label, part) in waits {
            lines.append(
                row(
                    "  " + label,
                    Figures.milliseconds(part.p50),
                    "in the middle; p95 \(Figures.milliseconds(part.p95)), most \(Figures.milliseconds(part.maximum))"
                )
            )
        }
        return lines
    }

    /// What a renderer with texture slots did.
    private var textures: [String] {
        guard let textures = report.textures else { return [] }
        let wait = textures.timeToSharp
        let mean = textures.uploadsPerFrame.map { Figures.decimal($0, places: 2) } ?? Figures.none
        return [
            "",
            row(
                "uploads",
                Figures.count(textures.uploads),
                "\(Figures.bytes(textures.uploadedBytes)); \(mean) a frame, at most \(Figures.count(textures.peakUploads))",
                isHeading: true
            ),
            row("  frames that waited", Figures.count(textures.waitingFrames), "for the upload of a tile in the cache"),
            row(
                "  ahead",
                Figures.count(textures.aheadUploads),
                "\(Figures.bytes(textures.aheadBytes)), "
                    + "\(Figures.percent(textures.aheadDrawn, of: textures.aheadUploads)) drawn"
            ),
            row(
                "  sharp at once",
                Figures.percent(textures.sharpAtOnce, of: textures.demands),
                "of \(Figures.count(textures.demands)) demands drawn from their slot"
            ),
            row(
                "  time to sharp",
                Figures.milliseconds(wait.p50),
                "on screen; p95 \(Figures.milliseconds(wait.p95)), most \(Figures.milliseconds(wait.maximum))"
            ),
            row(
                "  level bias",
                Figures.decimal(textures.levelBias, places: 2),
                "octaves at most; none with \(Figures.count(textures.neededSlots)) slots"
            ),
        ]
    }

    /// Converts pixel-milliseconds to the time of a whole screen, which is easier to judge.
    private func wholeScreen(_ pixelMilliseconds: Double) -> String {
        let coverage = report.coverage
        guard coverage.frames > 0, coverage.pixels > 0 else { return Figures.none }
        return Figures.milliseconds(pixelMilliseconds / (coverage.pixels / Double(coverage.frames)))
    }

    private var loads: [String] {
        let loads = report.loads
        let prefetch = report.prefetch
        func part(_ label: String, _ count: Int) -> String {
            row("  " + label, Figures.count(count), Figures.percent(count, of: prefetch.started))
        }
        var lines = [
            row("loads", Figures.count(loads.started), "\(Figures.bytes(loads.bytes)) decoded", isHeading: true)
        ]
        for (label, count) in [("absent", loads.absent), ("failed", loads.failed), ("cancelled", loads.cancelled)]
        where count > 0 {
            lines.append(row("  " + label, Figures.count(count), Figures.percent(count, of: loads.started)))
        }
        lines.append(
            row(
                "prefetched",
                Figures.count(prefetch.started),
                prefetch.started == 0 ? "" : "\(Figures.percent(prefetch.started, of: loads.started)) of the loads",
                isHeading: true
            )
        )
        guard prefetch.started > 0 || prefetch.heldBack > 0 else { return lines }
        return lines + [
            part("useful", prefetch.useful), part("late", prefetch.late), part("wasted", prefetch.wasted),
            part("cancelled", prefetch.cancelled),
            row("  requests", Figures.count(prefetch.requests), prefetch.sizes),
        ] + (prefetch.heldBack > 0 ? [row("  held back", Figures.count(prefetch.heldBack), "times, by a ceiling")] : [])
    }

    /// Loads that tiers below memory served, and those that reached the source.
    private var tiers: [String] {
        guard !report.tiers.isEmpty else { return [] }
        let stored = report.tiers.reduce(0) { $0 + $1.hits }
        let first = "first complete frame after \(Figures.milliseconds(report.firstCompleteFrame))"
        return [row("loads by tier", "", first, isHeading: true)]
            + report.tiers.flatMap { tier in
                [row("  " + tier.name.printable, Figures.count(tier.hits), tier.summary)]
                    + (tier.losses.map { [row("", "", $0)] } ?? [])
            }
            + [row("  source", Figures.count(max(report.loads.started - stored, 0)), "")]
    }

    /// Requests of a server, and failures by cause.
    private var tileSource: [String] {
        guard let source = report.tileSource else { return [] }
        var lines = [
            row("source", Figures.count(source.loads), "tiles from \(source.address.printable)", isHeading: true)
        ]
        func add(_ label: String, _ count: Int, _ note: String = "") {
            if count > 0 { lines.append(row("  " + label, Figures.count(count), note)) }
        }
        add("requests", source.attempts, "\(Figures.count(source.retries)) sent again")
        add("not modified", source.notModified)
        add("cancelled", source.cancelled, "their tiles were no longer wanted")
        let causes = source.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        for (cause, count) in causes {
            add(cause, count)
        }
        if let failure = source.lastFailure {
            let words = ["  last failure:"] + failure.printable.split(separator: " ").map(String.init)
            lines += wrapped(words, width: ReplayText.width, indent: 4)
        }
        return lines
    }

    private var memory: [String] {
        let memory = report.memory
        func part(_ label: String, _ bytes: Int, _ note: String = "at its peak") -> String {
            row("  " + label, Figures.bytes(bytes), note)
        }
        var lines = [
            row("memory", Figures.bytes(memory.peakBytes), "of \(Figures.bytes(memory.byteLimit))", isHeading: true),
            part("decoded", memory.peakDecodedBytes),
            part("compressed", memory.peakCompressedBytes, compression),
            part("in flight", memory.peakInFlightBytes),
            part("bookkeeping", memory.bookkeepingBytes, "at the end"),
        ]
        if let growth = memory.peakResidentGrowth {
            lines.append(part("process grew", growth, "as the system counts it"))
        }
        return lines
    }

    private var compression: String {
        guard let ratio = report.compression.ratio else { return "at its peak" }
        let raw = report.compression.storedRaw
        return "at its peak, \(Figures.decimal(ratio, places: 2)) : 1"
            + (raw > 0 ? ", \(Figures.count(raw)) tiles stored raw" : "")
    }

    private var evictions: [String] {
        let causes = report.evictions.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let total = causes.reduce(0) { $0 + $1.value }
        return [
            row(
                "evictions",
                Figures.count(total),
                causes.count < 2
                    ? causes.first?.key ?? ""
                    : causes.map { "\($0.key) \(Figures.count($0.value))" }.joined(separator: ", "),
                isHeading: true
            )
        ]
    }

    private func row(
        _ label: String,
        _ value: String,
        _ note: String,
        isHeading: Bool = false,
        emphasis: ((String) -> String)? = nil
    ) -> String {
        let start = label.padded(to: Self.labelWidth)
        let figure = value.aligned(to: Self.valueWidth)
        let room = ReplayText.width - start.count - figure.count - 3
        let shown = note.shortened(to: room)
        let end = shown.isEmpty ? "" : "   " + style.dim(shown)
        return (isHeading ? style.bold(start) : start) + (emphasis.map { $0(figure) } ?? figure) + end
    }
}
