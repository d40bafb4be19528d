import Foundation
import Testing

@testable import CacheBenchKit

/// Hand-made reports and their exact text.
@Suite struct ReplayTextTests {
    @Test func aTraceWithoutDemandsHasNoRates() {
        let report = ReplayReport.sample(name: "still.csv", source: "touch")
        let expected = """
            touch/still.csv                                                1 frame in 0.00 s
            hit rate                         -   pan -, zoom -
            peak memory                    0 B   0.0 % of the limit, 64.0 MiB
            blank                            -   sharp -, fallback -
            waste                            -   0 of 0 loads never drawn

            demands                          0
              decoded hits                   0   -
              compressed hits                0   -
              late                           0   -
              missed                         0   -
              by pan                         0   - hits
              by zoom                        0   - hits

            drawn frames                     0   that moved or lacked a tile
              with a gap                     -
              blank for                      -   of a whole screen; fallback for -
              deficit                        -   levels coarser than ideal, on average
              time to sharp                  -   in the middle; p95 -, p99 -

            loads                            0   0 B decoded
            prefetched                       0

            memory                         0 B   of 64.0 MiB
              decoded                      0 B   at its peak
              compressed                   0 B   at its peak
              in flight                    0 B   at its peak
              bookkeeping                  0 B   at the end
            evictions                        0

            cachebench 0.1.0, definitions 1: --memory-limit 64MiB --compressed-tier on
              --compressed-share 0.5 --compression-ratio 2 --workers 4 --load-latency 40ms
              --clock virtual
            """
        #expect(ReplayText.text(.only(report)) == expected + "\n")
    }

    @Test func aCardSaysAll() {
        let expected = """
            good: 97.9 % of the area was sharp, 0.01 % blank

            touch/drag.csv                                           3,848 frames in 64.12 s
            hit rate                    90.0 %   pan 99.9 %, zoom 80.1 %
            peak memory               61.0 MiB   95.3 % of the limit, 64.0 MiB
            blank                       0.01 %   sharp 97.9 %, fallback 2.1 %
            waste                       10.0 %   60 of 600 loads never drawn

            demands                      2,000
              decoded hits               1,500   75.0 %
              compressed hits              300   15.0 %
              late                          50   2.5 %
              missed                       150   7.5 %
              by pan                     1,000   99.9 % hits
              by zoom                    1,000   80.1 % hits

            drawn frames                 2,000   that moved or lacked a tile
              with a gap                14.1 %
              blank for               100.0 ms   of a whole screen; fallback for 2.00 s
              deficit                    0.042   levels coarser than ideal, on average
              time to sharp            83.3 ms   in the middle; p95 216.7 ms, p99 1.23 s

            loads                          600   142.5 MiB decoded
              absent                        10   1.7 %
              failed                         5   0.8 %
              cancelled                     15   2.5 %
            prefetched                     400   66.7 % of the loads
              useful                       300   75.0 %
              late                          50   12.5 %
              wasted                        40   10.0 %
              cancelled                     10   2.5 %
              requests                     400   100.0 MiB, 75.0 MiB drawn
              held back                     12   times, by a ceiling

            memory                    61.0 MiB   of 64.0 MiB
              decoded                 40.0 MiB   at its peak
              compressed              20.0 MiB   at its peak, 3.46 : 1, 7 tiles stored raw
              in flight                1.0 MiB   at its peak
              bookkeeping            300.0 KiB   at the end
              process grew            62.0 MiB   as the system counts it
            evictions                    1,241   capacity 1,234, incompressible 7

            cachebench 0.1.0, definitions 1: --memory-limit 64MiB --compressed-tier on
              --compressed-share 0.5 --compression-ratio 2 --workers 4 --load-latency 40ms
              --clock virtual
            """
        #expect(ReplayText.text(.only(.busy(name: "drag.csv", source: "touch"))) == expected + "\n")
    }

    @Test func aTableGroupsBySource() {
        let traces: [ReplayReport] = [
            .busy(name: "drag.csv", source: "touch"),
            .sample(name: "a-very-long-name-that-nobody-can-read-in-one-go-2026-07-01.csv", source: "touch"),
            .huge(name: "everything.csv", source: "."),
        ]
        let result = ReplayResult(
            traces: traces,
            total: .huge(name: "total", source: ""),
            sources: [.busy(name: "2 traces", source: "touch"), .huge(name: "1 traces", source: ".")]
        )
        let expected = """
            good: 97.9 % of the area was sharp, 0.01 % blank

            trace                        demands  hits  pan zoom late blank waste peak limit
                                                     %    %    %    %     %     %  TiB   TiB
            touch                          2,000  90.0 99.9 80.1  2.5  <0.1  10.0  0.0   0.0
              drag                         2,000  90.0 99.9 80.1  2.5  <0.1  10.0  0.0   0.0
              a-very-long…-go-2026-07-01       0     -    -    -    -     -     -  0.0   0.0
            this folder                     1.2T >99.9 99.9 80.1 <0.1  <0.1 100.0 64.0  64.0
              everything                    1.2T >99.9 99.9 80.1 <0.1  <0.1 100.0 64.0  64.0

            all 3                           1.2T >99.9 99.9 80.1 <0.1  <0.1 100.0 64.0  64.0

            1,000,000,000,000 frames, 2,777,777 h 46 min of traces
            time to sharp: p50 83.3 ms, p95 216.7 ms, p99 1.23 s
            prefetched: 400 loads, 300 drawn; 100.0 MiB, 75.0 MiB drawn; held back 12 times
            Folders and the whole are pooled: rates of sums, the largest of memory.

            cachebench 0.1.0, definitions 1: --memory-limit 64MiB --compressed-tier on
              --compressed-share 0.5 --compression-ratio 2 --workers 4 --load-latency 40ms
              --clock virtual
            """
        #expect(ReplayText.text(result) == expected + "\n")
    }

    @Test func prefetchesAreSummedUpInOneLine() {
        var prefetch = ReplayReport.Prefetch()
        #expect(prefetch.summary == nil)
        prefetch.heldBack = 3
        #expect(prefetch.summary == "0 loads, 0 drawn; 0 B, 0 B drawn; held back 3 times")
        prefetch = .init(started: 1234, useful: 612, requests: 1200, bytes: 5 << 20, drawnBytes: 3 << 20)
        #expect(prefetch.summary == "1,234 loads (1,200 requests), 612 drawn; 5.0 MiB, 3.0 MiB drawn")
    }

    /// The bytes are those of all prefetches, also of those that a store served.
    @Test func bytesBesideFewerRequestsAreExplained() {
        var report = ReplayReport.busy(name: "drag.csv", source: "touch")
        report.prefetch.requests = 390
        let card = ReplayText.text(.only(report))
        #expect(card.contains("  requests                     390   100.0 MiB, 75.0 MiB drawn, stores included\n"))
    }

    @Test func everyLineFitsATerminal() {
        let name = String(repeating: "wide", count: 50)
        for report in [ReplayReport.huge(name: name, source: name), .busy(name: name, source: name)] {
            let card = ReplayText.text(.only(report))
            #expect(card.split(separator: "\n").allSatisfy { $0.count <= 80 })
            let table = ReplayText.text(
                ReplayResult(traces: [report, report], total: report, sources: [report])
            )
            #expect(table.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }

    @Test func colourAddsNothingButColour() {
        let report = ReplayReport.busy(name: "drag.csv", source: "touch")
        for result in [
            ReplayResult.only(report), ReplayResult(traces: [report, report], total: report, sources: [report]),
        ] {
            let plain = ReplayText.text(result, style: .plain)
            var coloured = ReplayText.text(result, style: .ansi)
            #expect(coloured.contains("\u{1B}["))
            #expect(!plain.contains("\u{1B}"))
            for code in ["0", "1", "2", "33", "1;31"] {
                coloured = coloured.split(separator: "\u{1B}[\(code)m", omittingEmptySubsequences: false).joined()
            }
            #expect(coloured == plain)
        }
    }

    /// On a terminal the first lines scroll off.
    @Test func theVerdictCanBeTheEndToo() throws {
        let result = ReplayResult.only(ReplayReport.busy(name: "drag.csv", source: "touch"))
        let text = ReplayText.text(result)
        let verdict = try #require(text.firstRange(of: "\n\n")).lowerBound
        #expect(ReplayText.text(result, endsWithVerdict: true) == text + "\n" + text[..<verdict] + "\n")
    }

    @Test func jsonKeepsNumbersAndNulls() throws {
        let one = try JSONText.of(ReplayResult.only(.sample(name: "a/b.csv", source: "touch")))
        #expect(one.hasPrefix("{\n"))
        #expect(one.hasSuffix("}\n") && !one.hasSuffix("\n\n"))
        #expect(one.contains("\"hitRate\" : null"))
        #expect(one.contains("\"name\" : \"a/b.csv\""))
        #expect(one.contains("\"byteLimit\" : 67108864"))
        #expect(one.contains("\"schema\" : 2"))
        let report = ReplayReport.busy(name: "a", source: "b")
        let two = try JSONText.of(ReplayResult(traces: [report, report], total: report, sources: [report]))
        // One trace and several have the same structure.
        for text in [one, two] {
            let tree = try JSONTree(parsing: Data(text.utf8))
            guard case .object(let fields) = tree, case .array(let traces)? = fields["traces"],
                case .object(let trace)? = traces.first
            else { throw ReplayError("traces are expected") }
            #expect(Set(fields.keys) == ["schema", "traces", "total", "sources"])
            #expect(trace["name"] == .text(text == one ? "a/b.csv" : "a") && trace["demands"] != nil)
        }
        #expect(two.contains("\"hitRate\" : 0.9"))
    }
}

extension ReplayResult {
    fileprivate static func only(_ report: ReplayReport) -> ReplayResult {
        ReplayResult(traces: [report], total: report, sources: [report])
    }
}

extension ReplayReport {
    /// One still frame, without demands.
    fileprivate static func sample(name: String, source: String) -> ReplayReport {
        ReplayReport(
            trace: .init(name: name, source: source, hash: "0", frames: 1, seconds: 0),
            configuration: [
                "program": .text("0.1.0"), "definitions": .integer(1), "memoryLimit": .text("64MiB"),
                "compressedTier": .flag(true), "compressedShare": .number(0.5), "clock": .text("virtual"),
                "compressionRatio": .number(2), "loadLatencyMilliseconds": .number(40), "workers": .integer(4),
            ],
            demands: .init(
                total: 0,
                decodedHits: 0,
                compressedHits: 0,
                late: 0,
                missed: 0,
                hitRate: nil,
                pan: .init(total: 0, hits: 0, hitRate: nil),
                zoom: .init(total: 0, hits: 0, hitRate: nil)
            ),
            coverage: .init(
                sharp: nil,
                fallback: nil,
                blank: nil,
                blankPixelMilliseconds: 0,
                fallbackPixelMilliseconds: 0,
                deficit: nil,
                frames: 0,
                pixels: 0
            ),
            framesWithGap: nil,
            timeToSharp: .init(p50: nil, p95: nil, p99: nil),
            loads: .init(
                started: 0,
                finished: 0,
                absent: 0,
                failed: 0,
                cancelled: 0,
                bytes: 0,
                unseen: 0,
                waste: nil
            ),
            prefetch: .init(started: 0, useful: 0, late: 0, wasted: 0, cancelled: 0),
            memory: .init(
                byteLimit: 64 << 20,
                peakBytes: 0,
                peakDecodedBytes: 0,
                peakCompressedBytes: 0,
                peakInFlightBytes: 0,
                bookkeepingBytes: 0,
                peakResidentGrowth: nil
            ),
            compression: .init(ratio: nil, storedRaw: 0),
            evictions: ["capacity": 0]
        )
    }

    /// An ordinary one, with all fields set.
    fileprivate static func busy(name: String, source: String) -> ReplayReport {
        var report = sample(name: name, source: source)
        report.trace.frames = 3848
        report.trace.seconds = 64.12
        report.demands = .init(
            total: 2000,
            decodedHits: 1500,
            compressedHits: 300,
            late: 50,
            missed: 150,
            hitRate: 0.9,
            pan: .init(total: 1000, hits: 999, hitRate: 0.999),
            zoom: .init(total: 1000, hits: 801, hitRate: 0.801)
        )
        report.coverage = .init(
            sharp: 0.979,
            fallback: 0.0209,
            blank: 0.0001,
            blankPixelMilliseconds: 92_160_000,
            fallbackPixelMilliseconds: 1_843_200_000,
            deficit: 0.0422,
            frames: 2000,
            pixels: 2000 * 921_600
        )
        report.framesWithGap = 0.141
        report.timeToSharp = .init(p50: 83.3, p95: 216.7, p99: 1234.5)
        report.loads = .init(
            started: 600,
            finished: 570,
            absent: 10,
            failed: 5,
            cancelled: 15,
            bytes: 570 << 18,
            unseen: 60,
            waste: 0.1
        )
        report.prefetch = .init(started: 400, useful: 300, late: 50, wasted: 40, cancelled: 10)
        report.prefetch.requests = 400
        report.prefetch.bytes = 100 << 20
        report.prefetch.drawnBytes = 75 << 20
        report.prefetch.heldBack = 12
        report.memory = .init(
            byteLimit: 64 << 20,
            peakBytes: 61 << 20,
            peakDecodedBytes: 40 << 20,
            peakCompressedBytes: 20 << 20,
            peakInFlightBytes: 1 << 20,
            bookkeepingBytes: 300 << 10,
            peakResidentGrowth: 62 << 20
        )
        report.compression = .init(ratio: 3.456, storedRaw: 7)
        report.evictions = ["capacity": 1234, "replaced": 0, "incompressible": 7]
        return report
    }

    /// Days of traces, and more memory than any machine has.
    fileprivate static func huge(name: String, source: String) -> ReplayReport {
        var report = busy(name: name, source: source)
        report.trace.frames = 1_000_000_000_000
        report.trace.seconds = 1e10
        report.demands.total = 1_234_567_890_123
        report.demands.decodedHits = 1_234_567_890_122
        report.demands.hitRate = 0.9999999
        report.coverage.blankPixelMilliseconds = 1e30
        report.memory.byteLimit = 64 << 40
        report.memory.peakBytes = (64 << 40) + 1
        report.memory.peakDecodedBytes = 63 << 40
        report.loads.started = .max
        report.loads.bytes = .max
        report.loads.unseen = .max
        report.loads.waste = 1
        return report
    }
}
