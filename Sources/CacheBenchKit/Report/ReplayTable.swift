/// Table with a line for each trace, grouped by folder. Each folder, and all together, have a pooled line.
struct ReplayTable {
    let result: ReplayResult
    let style: TextStyle

    private struct Column {
        let heading: String
        let unit: String
        let value: (ReplayReport) -> String
    }

    private static let shortestName = 12

    /// One unit for all rows, so that they can be compared at a glance.
    private var unit: ByteUnit {
        let limits = (result.traces + [result.total]).map(\.memory.byteLimit)
        return max(.kibibytes, ByteUnit.fitting((limits.max() ?? 0) / 10))
    }

    private var columns: [Column] {
        let unit = unit
        func rate(_ heading: String, _ value: @escaping (ReplayReport) -> Double?) -> Column {
            Column(heading: heading, unit: "%") { Figures.percentNumber(value($0)) }
        }
        return [
            Column(heading: "demands", unit: "") { Figures.shortCount($0.demands.total) },
            rate("hits") { $0.demands.hitRate },
            rate("pan") { $0.demands.pan.hitRate },
            rate("zoom") { $0.demands.zoom.hitRate },
            rate("late") { $0.demands.total == 0 ? nil : Double($0.demands.late) / Double($0.demands.total) },
            rate("blank") { $0.coverage.blank },
            rate("waste") { $0.loads.waste },
            Column(heading: "peak", unit: unit.symbol) { unit.number($0.memory.peakBytes) },
            Column(heading: "limit", unit: unit.symbol) { unit.number($0.memory.byteLimit) },
        ]
    }

    var lines: [String] {
        let columns = columns
        let reports = result.traces + result.sources + [result.total]
        let widths = columns.map { column in
            max(column.heading.count, column.unit.count, reports.map { column.value($0).count }.max() ?? 0)
        }
        let taken = widths.reduce(0) { $0 + $1 + 1 }
        let longestName = reports.map { $0.trace.name.printable.cellCount + 2 }.max() ?? 0
        let nameWidth = max(min(ReplayText.width - taken, max(longestName, 24)), Self.shortestName)

        func line(_ name: String, _ cells: [String]) -> String {
            let row = zip(cells, widths).reduce(name.printable.shortened(to: nameWidth).padded(to: nameWidth)) {
                $0 + " " + $1.0.aligned(to: $1.1)
            }
            return String(row.reversed().drop { $0 == " " }.reversed())
        }
        func set(_ name: String, _ report: ReplayReport, isPooled: Bool = true) -> String {
            let text = line(name, columns.map { $0.value(report) })
            if report.memory.peakBytes > report.memory.byteLimit { return style.alarm(text) }
            return isPooled ? style.bold(text) : text
        }

        var lines = [
            line("trace", columns.map(\.heading)), style.dim(line("", columns.map(\.unit))),
        ]
        let traces = Dictionary(grouping: result.traces, by: \.trace.source)
        for source in result.sources {
            lines.append(set(source.trace.source.sourceTitle, source))
            for report in traces[source.trace.source] ?? [] {
                lines.append(set("  " + Self.shortName(report.trace.name), report, isPooled: false))
            }
        }
        return lines + ["", set("all \(count: result.traces.count)", result.total)] + notes
    }

    /// The name without its extension.
    private static func shortName(_ name: String) -> String {
        name.hasSuffix(".csv") ? String(name.dropLast(4)) : name
    }

    private var notes: [String] {
        let total = result.total
        let wait = total.timeToSharp
        let extent = "\(count: total.trace.frames) frames, \(seconds: total.trace.seconds) of traces"
        let waits =
            "time to sharp: p50 \(milliseconds: wait.p50), p95 \(milliseconds: wait.p95), p99 \(milliseconds: wait.p99)"
        let pooled = "Folders and the whole are pooled: rates of sums, the largest of memory."
        let tiers = total.tiers.map { tier in
            "\(tier.name.printable): \(count: tier.hits) loads, \(tier.summary)"
                + (tier.losses.map { ", " + $0 } ?? "")
        }
        let prefetched = total.prefetch.summary.map { wrapped("prefetched: " + $0) } ?? []
        let textures = total.textures.map { textures in
            wrapped(
                "textures: \(count: textures.uploads) uploads, at most \(count: textures.peakUploads) a "
                    + "frame; \(count: textures.waitingFrames) frames waited; "
                    + "\(percent: textures.sharpAtOnce, of: textures.demands) sharp at once, then "
                    + "p50 \(milliseconds: textures.timeToSharp.p50), p95 \(milliseconds: textures.timeToSharp.p95)"
            )
        }
        return ["", extent, waits] + prefetched + (textures ?? []) + tiers + [pooled, ""]
            + ReplayText.optionLines(total.configuration, style: style)
    }
}

extension ByteUnit: Comparable {
    static func < (a: ByteUnit, b: ByteUnit) -> Bool { a.rawValue < b.rawValue }
}
