import Foundation
import Testing
import TileCache

@testable import CacheBenchKit

/// Path of the browser; `CHROMIUM` names another one.
private let chromium: String? = {
    let environment = ProcessInfo.processInfo.environment
    let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let names = ["chromium", "chromium-browser", "google-chrome"].flatMap { name in folders.map { "\($0)/\(name)" } }
    return ([environment["CHROMIUM"]].compactMap { $0 } + names)
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}()

/// Each kind of page in headless Chromium. In the width of a telephone and of a desktop.
@Suite(
    .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium, or set CHROMIUM"),
    .timeLimit(.minutes(45))
)
struct PageBrowserTests {
    /// Findings of the probe about a page.
    private struct Finding: Decodable {
        var page: String
        var width: Int
        /// Elements that exceed the screen's width.
        var wide: [String]
        var links: Int
        /// Links without a target.
        var broken: [String]
        /// Visible elements with a tooltip.
        var hovers: Int
        /// Visible pictures without such an element.
        var silent: [String]
        var tables: Int
        /// Columns that a click on their name does not sort.
        var unsorted: [String]
        /// Short words of tables that are on two lines.
        var torn: [String]
    }

    private func replay(_ name: String, seed: UInt64, _ change: (inout ReplayOptions) -> Void) -> ReplayOptions {
        var options = ReplayOptions()
        options.duration = 3_000_000_000
        options.seed = seed
        change(&options)
        return options
    }

    /// Ten traces, of which eight have pictures.
    private func manyTraces(_ options: ReplayOptions) throws -> ReplayResult {
        let inputs = (0..<10).map { index -> @Sendable () throws -> ReplayInput in
            {
                var own = options
                own.seed = UInt64(index + 1)
                var input = try ReplayInput(lively: own)
                input.name = "a trace with a long name that has to be wrapped \(index).csv"
                input.source = index < 5 ? "first" : "second"
                return input
            }
        }
        return try Replay(options).run(inputs, hooks: ReplayHooks(keepsSeries: true))
    }

    private func comparison(in folder: URL) throws -> CompareReport {
        let paths = try ["touch", "mouse"].map { source in
            let place = folder.appendingPathComponent(source)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            var lines = [
                "# pan-trace: 1", "# viewport: 400x300", "# world: 16384x16384", "# wraps_x: false",
                "time_s,center_x,center_y,scale",
            ]
            for step in 0..<60 { lines.append("\(Double(step) / 10),\(4000 + step * step),\(5000 + 40 * step),1") }
            let path = place.appendingPathComponent("a.csv").path
            try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        var report = try Compare(
            options: ReplayOptions(),
            policies: [.none, .ring, .tilecache, .oracle],
            budgets: [.screens(1), .screens(2), .screens(12)]
        ).run(paths: paths)
        // As wide as those of long traces.
        for index in report.totals.indices {
            for rate in [\CompareRow.hitRate, \.panHitRate, \.zoomHitRate, \.gapClosed] {
                report.totals[index][keyPath: rate] = 1
            }
            report.totals[index].loadedBytes = 400 << 20
        }
        return report
    }

    private func pages(in folder: URL) throws -> [(name: String, text: String)] {
        let one = replay("one", seed: 1) { $0.memoryLimit = .bytes(16 << 20) }
        let short = replay("short", seed: 2) { $0.memoryLimit = .bytes(2 << 20) }
        let result = try Replay(one).run(ReplayInput(lively: one), hooks: ReplayHooks(keepsSeries: true))
        let tooSmall = try Replay(short).run(ReplayInput(lively: short), hooks: ReplayHooks(keepsSeries: true))
        var tuning = TuneOptions(replay: one, target: .hitRate(0.5))
        tuning.budgets = [.bytes(2 << 20), .bytes(16 << 20), .bytes(32 << 20)]
        tuning.workers = [2, 4]
        let inputs: [@Sendable () throws -> ReplayInput] = [{ try ReplayInput(lively: one) }]
        let tuned = try Tune(tuning, inputs: inputs).run()
        let shown = try Tune.shown(tuned, options: tuning, inputs: inputs)
        // Sixteen sets of options, of which seven have a line.
        tuning.replay.tiers = [.init(name: "disk", latency: 2_000_000)]
        (tuning.storeLimits, tuning.tileSizes) = ([4 << 20, 16 << 20], [128, 256])
        (tuning.compressedShares, tuning.budgets, tuning.policies) = ([0.25, nil], [.bytes(118 << 20)], [])
        let combined = try TunePage.text(Tune(tuning, inputs: inputs).run())
        #expect(combined.contains("9 more are in the table.") && combined.contains("25.0 % compr., store 4.0 MiB"))
        return [
            ("replay.html", try ReplayPage.text(result)), ("too-small.html", try ReplayPage.text(tooSmall)),
            ("many.html", try ReplayPage.text(manyTraces(one))), ("tune.html", try TunePage.text(tuned, shown: shown)),
            ("combined.html", combined),
            ("compare.html", try ComparePage.text(comparison(in: folder))),
            ("zoomout.html", try ZoomOutPage.text(PageTests.zoomout([1, 4, 16]))),
        ]
    }

    @Test func everyKindOfPageIsWholeInABrowser() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pages = try pages(in: folder)
        for page in pages {
            try page.text.write(to: folder.appendingPathComponent(page.name), atomically: true, encoding: .utf8)
        }
        let names = pages.map { "'\($0.name)'" }.joined(separator: ",")
        let probe = Self.probe.replacing("PAGES", with: names)
        try probe.write(to: folder.appendingPathComponent("probe.html"), atomically: true, encoding: .utf8)
        let (document, log) = try browse(folder)

        let messages = log.split(separator: "\n").filter { $0.contains("CONSOLE") }
        #expect(messages.isEmpty, "\(messages.prefix(5))")
        let start = try #require(document.firstRange(of: "BEGIN:")?.upperBound, "\(log.suffix(2000))")
        let end = try #require(document[start...].firstRange(of: ":END")?.lowerBound)
        let json = try #require(String(document[start..<end]).removingPercentEncoding)
        let findings = try JSONDecoder().decode([Finding].self, from: Data(json.utf8))
        #expect(findings.count == 2 * pages.count)
        for finding in findings {
            let name = "\(finding.page) at \(finding.width)"
            #expect(finding.wide.isEmpty, "\(name): \(finding.wide.prefix(5))")
            #expect(finding.broken.isEmpty, "\(name): \(finding.broken.prefix(5))")
            #expect(finding.unsorted.isEmpty, "\(name): \(finding.unsorted.prefix(5))")
            #expect(finding.torn.isEmpty, "\(name): \(finding.torn.prefix(5))")
            #expect(finding.tables > 0 && finding.links > 0, "\(name)")
            if finding.width > 600 {
                #expect(finding.silent.isEmpty, "\(name): \(finding.silent)")
                #expect(finding.hovers > (finding.page == "replay.html" ? 100 : 3), "\(name)")
            }
        }
        // Ten moments at most, each linked from the map and from the charts over time.
        #expect(findings.contains { $0.page == "replay.html" && $0.links > 10 })
    }

    private func browse(_ folder: URL) throws -> (document: String, log: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(chromium))
        process.arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=60000",
            "--user-data-dir=\(folder.appendingPathComponent("profile").path)", "--window-size=1400,1000", "--dump-dom",
            folder.appendingPathComponent("probe.html").absoluteString,
        ]
        func file(_ name: String) throws -> (FileHandle, URL) {
            let place = folder.appendingPathComponent(name)
            try Data().write(to: place)
            return (try FileHandle(forWritingTo: place), place)
        }
        let (output, document) = try file("document.txt")
        let (errors, log) = try file("log.txt")
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // Ended by its process id if it hangs.
        let watchdog = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 180, execute: watchdog)
        process.waitUntilExit()
        watchdog.cancel()
        func text(_ place: URL) throws -> String { String(decoding: try Data(contentsOf: place), as: UTF8.self) }
        return (try text(document), try text(log))
    }

    /// Opens each page in a frame of each width and records what is wrong.
    private static let probe = #"""
        <!DOCTYPE html><html><head><meta charset="utf-8"><title>probe</title></head><body><pre id="result"></pre><script>
        const shown = element => { const r = element.getBoundingClientRect(); return r.width > 0 && r.height > 0 };
        const name = element => `${element.tagName}.${element.getAttribute('class') || ''} ${element.textContent.slice(0, 30)}`;
        const percent = text => /^[<>]?[0-9.]+ %$/.test(text)
            ? parseFloat(text.replace(/[<>]/, '')) + (text[0] === '<' ? -.01 : text[0] === '>' ? .01 : 0) : null;
        const look = (page, width, doc) => {
            const all = [...doc.querySelectorAll('body *')].filter(shown);
            // A table of so many options moves sideways within its box.
            const moves = e => page === 'combined.html' && e.closest('table');
            const exceeds = r => r.right > width + 1 || r.left < -1;
            const wide = all.filter(e => !moves(e) && exceeds(e.getBoundingClientRect()));
            const links = [...doc.querySelectorAll('a')].map(a => a.getAttribute('href'));
            const charts = all.filter(e => e.tagName === 'svg');
            const unsorted = [];
            for (const table of doc.querySelectorAll('table')) {
                const count = table.tBodies[0].rows.length;
                [...table.tHead.rows[0].cells].forEach((head, column) => {
                    const button = head.querySelector('button');
                    if (!button) { unsorted.push(name(head)); return }
                    for (const sign of [-1, 1]) {
                        button.click();
                        const rows = [...table.tBodies[0].rows];
                        const values = rows.map(row => percent(row.cells[column].textContent));
                        const isSorted = values.every((v, i) => i === 0 || v === null || values[i - 1] === null
                            || sign * (v - values[i - 1]) >= 0);
                        if (!isSorted || rows.length !== count || !head.getAttribute('aria-sort')) unsorted.push(name(head));
                    }
                });
            }
            const lines = element => {
                const range = doc.createRange();
                range.selectNodeContents(element);
                return range.getClientRects().length;
            };
            const torn = all.filter(e => e.matches('td.name') && /^\S{1,11}$/.test(e.textContent) && lines(e) > 1);
            return { page, width, wide: wide.map(name), torn: torn.map(name), links: links.length,
                broken: links.filter(l => !l || l[0] !== '#' || !doc.getElementById(l.slice(1))),
                hovers: charts.reduce((sum, chart) => sum + chart.querySelectorAll('title').length, 0),
                silent: charts.filter(chart => !chart.querySelector('title')).map(c => c.getAttribute('aria-label')),
                tables: doc.querySelectorAll('table').length, unsorted };
        };
        (async () => {
            const found = [];
            for (const page of [PAGES]) for (const width of [390, 1280]) {
                const frame = document.createElement('iframe');
                frame.style = `width:${width}px;height:900px;border:0`;
                document.body.append(frame);
                await new Promise(done => { frame.onload = done; frame.src = page });
                found.push(look(page, width, frame.contentDocument));
                frame.remove();
            }
            document.getElementById('result').textContent = 'BEGIN:' + encodeURIComponent(JSON.stringify(found)) + ':END';
        })();
        </script></body></html>
        """#
}
