/// All figures of one trace, beginning with those that decide a memory limit.
struct ReplayCard {
    let report: ReplayReport
    let style: TextStyle

    private static let labelWidth = 21
    private static let valueWidth = 13

    var lines: [String] {
        [heading] + summary + [""] + demands + [""] + drawing + textures + [""] + loads + tiers + tileSource + [""]
            + memory + evictions + [""]
            + ReplayText.optionLines(report.configuration, style: style)
    }

    private var heading: String {
        let trace = report.trace
        let frames = Figures.count(trace.frames) + (trace.frames == 1 ? " frame" : " frames")
        let extent = "\(frames) in \(seconds: trace.seconds)"
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
        let (demands, memory, loads, coverage) = (report.demands, report.memory, report.loads, report.coverage)
        let peak = "\(percent: memory.peakBytes, of: memory.byteLimit) of the limit, \(bytes: memory.byteLimit)"
        return [
            row(
                "hit rate",
                Figures.percent(demands.hitRate),
                "pan \(percent: demands.pan.hitRate), zoom \(percent: demands.zoom.hitRate)",
                emphasis: style.bold
            ),
            row(
                "peak memory",
                Figures.bytes(memory.peakBytes),
                peak,
                emphasis: memory.peakBytes > memory.byteLimit ? style.alarm : style.bold
            ),
            row(
                "blank",
                Figures.percent(coverage.blank),
                "sharp \(percent: coverage.sharp), fallback \(percent: coverage.fallback)",
                emphasis: (coverage.blank ?? 0) > 0 ? style.warning : style.bold
            ),
            row(
                "waste",
                Figures.percent(loads.waste),
                "\(count: loads.unseen) of \(count: loads.started) loads never drawn",
                emphasis: style.bold
            ),
        ]
    }

    private var demands: [String] {
        let demands = report.demands
        func part(_ label: String, _ count: Int) -> String {
            row("  " + label, count, "\(percent: count, of: demands.total)")
        }
        return [
            row("demands", demands.total, isHeading: true), part("decoded hits", demands.decodedHits),
            part("compressed hits", demands.compressedHits), part("late", demands.late), part("missed", demands.missed),
            row("  by pan", demands.pan.total, "\(percent: demands.pan.hitRate) hits"),
            row("  by zoom", demands.zoom.total, "\(percent: demands.zoom.hitRate) hits"),
        ]
    }

    private var drawing: [String] {
        let coverage = report.coverage
        let deficit = coverage.deficit.map { Figures.decimal($0, places: 3) } ?? Figures.none
        let blank = wholeScreen(coverage.blankPixelMilliseconds)
        let fallback = wholeScreen(coverage.fallbackPixelMilliseconds)
        let wait = report.timeToSharp
        let lines = [
            row("drawn frames", coverage.frames, "that moved or lacked a tile", isHeading: true),
            row("  with a gap", Figures.percent(report.framesWithGap)),
            row("  blank for", blank, "of a whole screen; fallback for \(fallback)"),
            row("  deficit", deficit, "levels coarser than ideal, on average"),
            waits("time to sharp", wait.p50, "in the middle", wait.p95, "p99 \(milliseconds: wait.p99)"),
        ]
        guard let service = report.service else { return lines }
        func part(_ label: String, _ part: ReplayReport.Durations) -> String {
            waits(label, part.p50, "in the middle", part.p95, "most \(milliseconds: part.maximum)")
        }
        return lines + [
            part("needed waited", service.demandWait), part("prefetch waited", service.prefetchWait),
            part("update, frame", service.frameCost),
        ]
    }

    /// A line of the middle and the upper end of waits, in milliseconds.
    private func waits(_ label: String, _ p50: Double?, _ place: String, _ p95: Double?, _ end: String) -> String {
        row("  " + label, Figures.milliseconds(p50), "\(place); p95 \(milliseconds: p95), \(end)")
    }

    /// What a renderer with texture slots did.
    private var textures: [String] {
        guard let textures = report.textures else { return [] }
        let wait = textures.timeToSharp
        let mean = textures.uploadsPerFrame.map { Figures.decimal($0, places: 2) } ?? Figures.none
        let uploads = "\(bytes: textures.uploadedBytes); \(mean) a frame, at most \(count: textures.peakUploads)"
        let ahead = "\(bytes: textures.aheadBytes), \(percent: textures.aheadDrawn, of: textures.aheadUploads) drawn"
        return [
            "", row("uploads", textures.uploads, uploads, isHeading: true),
            row("  frames that waited", textures.waitingFrames, "for the upload of a tile in the cache"),
            row("  ahead", textures.aheadUploads, ahead),
            row(
                "  sharp at once",
                Figures.percent(textures.sharpAtOnce, of: textures.demands),
                "of \(count: textures.demands) demands drawn from their slot"
            ),
            waits("time to sharp", wait.p50, "on screen", wait.p95, "most \(milliseconds: wait.maximum)"),
            row(
                "  level bias",
                Figures.decimal(textures.levelBias, places: 2),
                "octaves at most; none with \(count: textures.neededSlots) slots"
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
        let (loads, prefetch) = (report.loads, report.prefetch)
        func part(_ label: String, _ count: Int, of all: Int) -> String {
            row("  " + label, count, "\(percent: count, of: all)")
        }
        let share = prefetch.started == 0 ? "" : "\(percent: prefetch.started, of: loads.started) of the loads"
        var lines = [row("loads", loads.started, "\(bytes: loads.bytes) decoded", isHeading: true)]
        for (label, count) in [("absent", loads.absent), ("failed", loads.failed), ("cancelled", loads.cancelled)]
        where count > 0 {
            lines.append(part(label, count, of: loads.started))
        }
        lines.append(row("prefetched", prefetch.started, share, isHeading: true))
        guard prefetch.started > 0 || prefetch.heldBack > 0 else { return lines }
        lines += [
            ("useful", prefetch.useful), ("late", prefetch.late), ("wasted", prefetch.wasted),
            ("cancelled", prefetch.cancelled),
        ].map { part($0, $1, of: prefetch.started) }
        let sizes = prefetch.sizes + (prefetch.requests == prefetch.started ? "" : ", stores included")
        lines.append(row("  requests", prefetch.requests, sizes))
        return lines + (prefetch.heldBack > 0 ? [row("  held back", prefetch.heldBack, "times, by a ceiling")] : [])
    }

    /// Loads that tiers below memory served, and those that reached the source.
    private var tiers: [String] {
        guard !report.tiers.isEmpty else { return [] }
        let stored = report.tiers.reduce(0) { $0 + $1.hits }
        let first = "first complete frame after \(milliseconds: report.firstCompleteFrame)"
        return [row("loads by tier", "", first, isHeading: true)]
            + report.tiers.flatMap { tier in
                [row("  " + tier.name.printable, tier.hits, tier.summary)]
                    + (tier.losses.map { [row("", "", $0)] } ?? [])
            }
            + [row("  source", max(report.loads.started - stored, 0))]
    }

    /// Requests of a server, and failures by cause.
    private var tileSource: [String] {
        guard let source = report.tileSource else { return [] }
        let counts = [
            ("requests", source.attempts, "\(count: source.retries) sent again"),
            ("put off", source.postponed, "their server refused requests or was not reached"),
            ("not modified", source.notModified, ""),
            ("cancelled", source.cancelled, "their tiles were no longer wanted"),
            ("cut off", source.cutOff, "after they were sent; \(Figures.bytes(source.cancelledBytes)) thrown away"),
            ("connections", source.connections, "opened"),
            ("streams", source.streams, "requests that shared a connection"),
        ]
        var lines = [row("source", source.loads, "tiles from \(source.address.printable)", isHeading: true)]
        lines += (counts + source.failures.largestFirst.map { ($0, $1, "") }).filter { $0.1 > 0 }
            .map { row("  " + $0.0, $0.1, $0.2) }
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
        return [
            row("memory", Figures.bytes(memory.peakBytes), "of \(bytes: memory.byteLimit)", isHeading: true),
            part("decoded", memory.peakDecodedBytes), part("compressed", memory.peakCompressedBytes, compression),
            part("in flight", memory.peakInFlightBytes), part("bookkeeping", memory.bookkeepingBytes, "at the end"),
        ] + (memory.storeBytes.map { [part("stores", $0, "of the bookkeeping, at the end")] } ?? [])
            + (memory.peakResidentGrowth.map { [part("process grew", $0, "as the system counts it")] } ?? [])
    }

    private var compression: String {
        guard let ratio = report.compression.ratio else { return "at its peak" }
        let raw = report.compression.storedRaw
        return "at its peak, \(Figures.decimal(ratio, places: 2)) : 1"
            + (raw > 0 ? ", \(count: raw) tiles stored raw" : "")
    }

    private var evictions: [String] {
        let causes = report.evictions.largestFirst.filter { $0.value > 0 }
        let words = causes.map { causes.count < 2 ? $0.key : "\($0.key) \(count: $0.value)" }.joined(separator: ", ")
        return [row("evictions", causes.reduce(0) { $0 + $1.value }, words, isHeading: true)]
    }

    private func row(_ label: String, _ count: Int, _ note: String = "", isHeading: Bool = false) -> String {
        row(label, Figures.count(count), note, isHeading: isHeading)
    }

    private func row(
        _ label: String,
        _ value: String,
        _ note: String = "",
        isHeading: Bool = false,
        emphasis: ((String) -> String)? = nil
    ) -> String {
        let start = label.padded(to: Self.labelWidth)
        let figure = value.aligned(to: Self.valueWidth)
        let room = ReplayText.width - start.cellCount - figure.cellCount - 3
        let shown = note.shortened(to: room)
        let end = shown.isEmpty ? "" : "   " + style.dim(shown)
        return (isHeading ? style.bold(start) : start) + (emphasis.map { $0(figure) } ?? figure) + end
    }
}
