import Foundation
import PanTraces
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Comparisons on two traces in a separate folder.
@Suite struct CompareTests {
    private static func withTraces<Result>(_ body: ([String]) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("compare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = try (0..<2).map { number in
            var lines = [
                "# pan-trace: 1", "# viewport: 400x300", "# world: 16384x16384", "# wraps_x: false",
                "time_s,center_x,center_y,scale",
            ]
            for step in 0..<80 {
                let x = 4000 + 3000 * sin(Double(step) / 9 + Double(number))
                lines.append("\(Double(step) / 10),\(x),\(5000 + 40 * step),1")
            }
            let path = folder.appendingPathComponent("\(number).csv").path
            try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        return try body(paths)
    }

    private static func options() -> ReplayOptions {
        var options = ReplayOptions()
        options.compressedTier = false
        return options
    }

    @Test func foldersOfTheSameNameAreTwoSources() {
        func sources(_ paths: String...) -> [String] { ReplayInput.sources(ofPaths: paths) }
        #expect(sources("a.csv", "maps/b.csv", "/x/slides/c.csv", "-") == [".", "maps", "slides", "."])
        #expect(sources("/x/1/map/a.csv", "/x/2/map/a.csv", "/x/b.csv") == ["1/map", "2/map", "x"])
        #expect(sources("/x/1/y/map/a.csv", "/x/2/y/map/a.csv", "/z/map/a") == ["1/y/map", "2/y/map", "/z/map"])
        #expect(sources("/map/a.csv", "/x/map/a.csv") == ["/map", "/x/map"])
        #expect(sources("/a.csv", "b.csv") == ["/", "."])
        // One folder, named in two ways.
        #expect(sources("/x/map/a.csv", "/x/./map/b.csv", "/x/y/../map/c.csv") == ["map", "map", "map"])
    }

    /// Also if two texts are equal up to a comma.
    @Test func eachLimitThatIsTooSmallIsWarnedOfOnce() throws {
        try Self.withTraces { paths in
            let limits = [MemoryLimit.bytes(1020 << 10), .bytes(1010 << 10)]
            let compare = Compare(options: Self.options(), policies: [.none, .ring], budgets: limits)
            let lines = LimitWarning.lines(try compare.run(paths: paths))
            #expect(lines.count == 2, "\(lines)")
            for (line, limit) in zip(lines, ["1,020.0 KiB", "1,010.0 KiB"]) {
                #expect(line.hasPrefix("limit too small: \(limit) for compare-"), "\(line)")
            }
        }
    }

    /// Traces with tiles of different sizes have other bytes for it.
    @Test func aBudgetInTilesIsNamedAsItWasGiven() throws {
        try Self.withTraces { paths in
            var options = Self.options()
            options.overrides.tileSize = 128
            let budgets = [MemoryLimit.tiles(2), .screens(2)]
            let report = try Compare(options: options, policies: [.none, .ring], budgets: budgets).run(paths: paths)
            #expect(report.totals.map(\.budgetTitle) == ["2 tiles", "2 tiles", "2 screens", "2 screens"])
            #expect(CompareText.text(report).contains("\n2 tiles ring "))
            let warning = try #require(LimitWarning.lines(report).first)
            #expect(warning.hasPrefix("limit too small: 2 tiles for compare-"), "\(warning)")
            // That of the policy with the largest tables.
            let most = report.totals.map(\.shortfallBytes).max() ?? 0
            #expect(warning.contains("up to \(Figures.bytes(most)) are missing"), "\(warning)")
        }
    }

    @Test func aPageNamesNoPolicyAheadOfEqualOnes() throws {
        try Self.withTraces { paths in
            let policies = [PrefetchKind.none, .ring, .velocity]
            var report = try Compare(options: Self.options(), policies: policies, budgets: [.screens(4)])
                .run(paths: paths)
            func page(_ rate: Double?) throws -> String {
                for index in report.totals.indices {
                    report.totals[index].hitRate = rate
                    report.totals[index].blankPixelMilliseconds = 2e9
                }
                return try ComparePage.text(report)
            }
            let equal = try page(0.5)
            #expect(equal.contains("<dd>none and 2 more</dd>") && equal.contains(" none hits 50.0 % (so do 2 more)."))
            #expect(equal.contains("Least is blank with none and "))
            #expect(equal.contains(" (2 more have as little): 2.00 "))
            #expect(try page(nil).contains("<figcaption>There were no demands.</figcaption>"))
            report.totals[2].hitRate = 0.6
            #expect(try ComparePage.text(report).contains("<dd>velocity</dd>"))
        }
    }

    @Test func totalsAreTheSumsOfTheRows() throws {
        try Self.withTraces { paths in
            let compare = Compare(
                options: Self.options(),
                policies: [.ring, .oracle],
                budgets: [.screens(2), .screens(4)]
            )
            let report = try compare.run(paths: paths)
            #expect(report.rows.count == 8 && report.totals.count == 4)
            for total in report.totals {
                let rows = report.rows.filter { $0.policy == total.policy && $0.screens == total.screens }
                #expect(rows.count == 2)
                #expect(rows.reduce(0) { $0 + $1.demands } == total.demands)
                #expect(rows.reduce(0) { $0 + $1.loads } == total.loads)
                #expect(total.drawableHitRate == total.hitRate)
            }
            #expect(report.chargedTotals == nil)
            #expect(try compare.run(paths: paths) == report)
            // The same figures as in the replay.
            var options = Self.options()
            options.prefetch = .ring
            options.eviction = .lru
            options.memoryLimit = .screens(2)
            let replay = try Replay(options).run(
                paths.map { [options] path in { try ReplayInput(path: path, options: options) } }
            )
            #expect(report.totals[0].hitRate == replay.total.demands.hitRate)
            #expect(report.totals[0].loadedBytes == replay.total.loads.bytes)
            #expect(report.totals[0].prefetchRequests == replay.total.prefetch.requests)
        }
    }

    /// Each gap from the rates of its neighbours. Policies may lie outside both of them.
    @Test func gapsArePlacesBetweenTheOwnBaselineAndOracle() throws {
        try Self.withTraces { paths in
            let report = try Compare(
                options: Self.options(),
                policies: [.none, .ring, .tilecache, .oracle],
                budgets: [.screens(1), .screens(3)]
            ).run(paths: paths)
            for rows in [report.rows, report.totals] {
                for row in rows {
                    func rate(_ policy: String) throws -> Double {
                        let same = rows.first {
                            $0.policy == policy && $0.trace == row.trace && $0.screens == row.screens
                        }
                        return try #require(same?.hitRate)
                    }
                    let (none, oracle) = (try rate("none"), try rate("oracle"))
                    guard oracle - none >= 0.02 else {
                        #expect(row.gapClosed == nil)
                        continue
                    }
                    let gap = try #require(row.gapClosed)
                    #expect(abs(none + gap * (oracle - none) - (row.hitRate ?? -1)) < 1e-9)
                    #expect(row.policy != "none" || gap == 0)
                    #expect(row.policy != "oracle" || gap == 1)
                }
            }
            // One screen is 11 tiles, and an unaligned view needs up to 3 x 3: no limit is too small.
            #expect(report.totals.allSatisfy { $0.shortfallBytes == 0 && $0.screenBytes > 0 })
            let page = try ComparePage.text(report)
            let flags = "compare --budgets 1screens,3screens --policies none,ring,tilecache,oracle --efforts 0.5"
            #expect(page.contains(flags))
            #expect(CompareText.text(report).contains("--budgets 1screens,3screens"))
            // Megabytes are rounded, as everything else in the table.
            var large = report
            for index in large.totals.indices { large.totals[index].loadedBytes = 4_999_600_000 }
            let line = CompareText.text(large).split(separator: "\n").first { $0.contains(" none ") }
            #expect(line?.hasSuffix(" 5,000") == true, "\(line ?? "")")
        }
    }

    @Test func moreEffortLoadsMore() throws {
        try Self.withTraces { paths in
            for kind in [PrefetchKind.ring, .skewport] {
                var compare = Compare(options: Self.options(), policies: [kind], budgets: [.screens(4)])
                compare.efforts = [0, 0.1, 0.3, 0.5, 1]
                let rows = try compare.run(paths: paths).totals
                #expect(rows.map(\.effort) == compare.efforts)
                #expect(rows.map(\.loads) == rows.map(\.loads).sorted())
                #expect(rows[0].gapClosed == 0, "without effort nothing is loaded ahead of need")
                #expect(rows[3].loads == rows[4].loads && rows[0].loads < rows[3].loads)
            }
        }
    }

    @Test func loadsAreHeldEqual() throws {
        try Self.withTraces { paths in
            var compare = Compare(
                options: Self.options(),
                policies: [.none, .ring, .skewport, .tilecache, .oracle],
                budgets: [.screens(4)]
            )
            compare.equalLoads = .smallest
            let report = try compare.run(paths: paths)
            // The loads to match are those of this effort.
            #expect(ReplayFlags.words(report.configuration).contains("--effort 0.5"))
            let rows = report.totals
            let held = rows.filter { $0.policy != "none" && $0.policy != "oracle" }
            let targets = Set(held.map { $0.targetLoads ?? 0 })
            #expect(targets.count == 1)
            for row in held {
                let target = try #require(row.targetLoads)
                #expect(row.reachesTarget == (abs(row.loads - target) * 50 <= target))
                #expect((0...1).contains(row.effort))
            }
            #expect(held.contains { $0.loads == $0.targetLoads && $0.effort == 0.5 })
            #expect(rows.filter { $0.targetLoads == nil }.map(\.policy) == ["none", "oracle"])
        }
    }

    @Test func whatCannotBeComparedIsSaid() throws {
        try Self.withTraces { paths in
            var compare = Compare(options: Self.options(), policies: [.ring], budgets: [.screens(4)])
            compare.learnsFromOthers = true
            func isRefused() {
                let done = Lock(0)
                #expect(throws: ReplayError.self) {
                    try compare.run(paths: paths, progress: { _, _ in done.withLock { $0 += 1 } })
                }
                // Before any replay.
                #expect(done.withLock { $0 } == 0)
            }
            compare.equalLoads = .policy(.skewport)
            isRefused()
            compare.equalLoads = .smallest
            compare.efforts = [0.1]
            isRefused()
        }
    }

    @Test func aChargedComparisonShowsBothTables() throws {
        try Self.withTraces { paths in
            var options = Self.options()
            options.compressedTier = true
            options.cost = .rates(compress: 1e9, decompress: 2e9)
            let report = try Compare(options: options, policies: [.ring], budgets: [.screens(2)]).run(paths: paths)
            let charged = try #require(report.chargedTotals?.first)
            #expect(charged.demands == report.totals[0].demands)
            #expect(report.totals[0].drawableHitRate == report.totals[0].hitRate)
            let (drawable, all) = (try #require(charged.drawableHitRate), try #require(charged.hitRate))
            #expect(drawable <= all)
            #expect(CompareText.text(report).contains("compress=1000000000B"))
        }
    }

    /// A comparison that is stopped has the policy that was asked about.
    @Test func theLibrarysPolicyIsReplayedFirstAndTheOracleLast() {
        let budgets: [MemoryLimit] = [.screens(2), .screens(4)]
        var compare = Compare(options: Self.options(), policies: [.oracle, .ring, .tilecache], budgets: budgets)
        let order = compare.cellsInOrder
        #expect(order.map(\.policy) == [.tilecache, .tilecache, .ring, .ring, .oracle, .oracle, .none, .none])
        #expect(order.prefix(2).map(\.budget) == budgets)
        compare.efforts = [0.1, 0.5]
        #expect(compare.cellsInOrder.prefix(4).map(\.effort) == [0.1, 0.5, 0.1, 0.5])
    }

    /// Also at equal loads: an interrupted search for an effort would give another row.
    @Test(arguments: [nil, .smallest] as [Compare.LoadTarget?])
    func anInterruptedComparisonHasTheRowsThatWereDone(equalLoads: Compare.LoadTarget?) throws {
        try Self.withTraces { paths in
            var compare = Compare(
                options: Self.options(),
                policies: [.none, .ring, .skewport, .oracle],
                budgets: [.screens(2), .screens(4)]
            )
            compare.equalLoads = equalLoads
            let all = Lock(0)
            let whole = try compare.run(paths: paths, progress: { count, _ in all.withLock { $0 = max($0, count) } })
            #expect(!whole.interrupted)
            let count = all.withLock { $0 }
            for stop in [0, 1, 6] + (equalLoads == nil ? [] : [count - 5, count - 1]) {
                let done = Lock(0)
                let part = try compare.run(
                    paths: paths,
                    shouldStop: { done.withLock { $0 >= stop } },
                    progress: { count, _ in done.withLock { $0 = max($0, count) } }
                )
                #expect(part.interrupted)
                // Replays on other cores end meanwhile, but none starts.
                #expect(part.rows.count <= whole.rows.count && (stop > 0 || part.rows.isEmpty))
                for var row in part.rows + part.totals {
                    let same = (whole.rows + whole.totals).filter {
                        $0.policy == row.policy && $0.trace == row.trace && $0.screens == row.screens
                    }
                    if row.gapClosed == nil { row.gapClosed = same.first?.gapClosed }
                    if row.deficitGapClosed == nil { row.deficitGapClosed = same.first?.deficitGapClosed }
                    #expect(same == [row])
                }
                #expect(CompareText.text(part).contains("policy"))
            }
        }
    }

    @Test func effectsCanBeLeftOut() throws {
        try Self.withTraces { paths in
            var options = Self.options()
            let compare = Compare(options: options, policies: [.tilecache, .ring], budgets: [.screens(4)])
            let all = try compare.run(paths: paths).totals
            options.without = [.pan, .parents, .children, .fallback]
            let few = try Compare(options: options, policies: [.tilecache, .ring], budgets: [.screens(4)])
                .run(paths: paths).totals
            let (before, after) = (try #require(all[0].hitRate), try #require(few[0].hitRate))
            #expect(after < before)
            #expect(all[1] == few[1], "other policies have no such effects")
            #expect(
                options.resolvedConfiguration(scene: nil, byteLimit: nil)["without"]
                    == .text("pan,parents,children,cover")
            )
        }
    }

    @Test func effortsAreNotAddedUp() throws {
        try Self.withTraces { paths in
            var compare = Compare(options: Self.options(), policies: [.none, .tilecache], budgets: [.screens(2)])
            compare.efforts = [0.1, 0.9]
            let totals = try compare.run(paths: paths).totals
            // Without prefetch there is no effort: one row.
            #expect(totals.map(\.policy) == ["none", "tilecache", "tilecache"])
            #expect(totals[1].hitRate != totals[2].hitRate)
            // The page of one source shows its rows; of two it pools each effort by itself.
            let page = try ComparePage.text(compare.run(paths: paths))
            for row in totals { #expect(page.contains(">\(Figures.percent(row.hitRate))<")) }
            let other = totals.map { row in
                var row = row
                row.source = "other"
                row.byteLimit += 4096
                return row
            }
            let pooled = ComparePage.pooled(totals + other)
            #expect(pooled.map(\.effort) == totals.map(\.effort))
            #expect(zip(pooled, totals).allSatisfy { $0.hitRate == $1.hitRate && $0.demands == 2 * $1.demands })
        }
    }

    /// The tables in a limit of tiles differ from source to source, the budget does not.
    @Test func budgetsInTilesArePooledOverSources() throws {
        try Self.withTraces { paths in
            let compare = Compare(options: Self.options(), policies: [.ring], budgets: [.tiles(90)])
            let row = try #require(try compare.run(paths: paths).totals.first)
            #expect(row.budget == "90tiles" && row.hash == nil)
            var other = row
            other.source = "other"
            other.byteLimit += 4096
            #expect(ComparePage.pooled([row, other]).count == 1)
            // At equal loads each source has its own effort.
            var matched = [row, other]
            for index in matched.indices {
                matched[index].targetLoads = 100
                matched[index].effort = Double(index) / 2
            }
            #expect(ComparePage.pooled(matched).count == 1)
        }
    }

    /// A policy changes the tables in a limit of screens, and not the budget. Other traces have another hash.
    @Test func aBaselineHasTheSameBudgetsAndTraces() throws {
        try Self.withTraces { paths in
            func tree(_ paths: [String], _ without: PolicyEffects = []) throws -> JSONTree {
                var options = Self.options()
                options.without = without
                return try JSONTree(
                    encoding: Compare(options: options, policies: [.tilecache], budgets: [.screens(2)]).run(
                        paths: paths
                    )
                )
            }
            let baseline = Baseline(report: try tree([paths[0]]), path: "old.json")
            #expect(throws: Never.self) { try baseline.compare(tree([paths[0]], .children)) }
            let text = try String(contentsOfFile: paths[1], encoding: .utf8)
            try text.write(toFile: paths[0], atomically: true, encoding: .utf8)
            let error = #expect(throws: ReplayError.self) { try baseline.compare(tree([paths[0]])) }
            #expect(error?.description.contains("different traces") == true)
        }
    }

    @Test func aBudgetThatIsNamedTwiceHasItsRowsOnce() throws {
        try Self.withTraces { paths in
            func rows(_ budgets: [MemoryLimit]) throws -> [CompareRow] {
                try Compare(options: Self.options(), policies: [.none], budgets: budgets).run(paths: paths).rows
            }
            let (twice, once) = (try rows([.screens(2), .screens(2)]), try rows([.screens(2)]))
            #expect(twice == once)
        }
    }

    @Test func theFlagsHaveTheSceneAndMessagesTheFlag() throws {
        try Self.withTraces { paths in
            var options = Self.options()
            options.overrides.tileSize = 128
            options.overrides.viewport = .init(viewport: "300x200")
            options.overrides.wrapsX = true
            let report = try Compare(options: options, policies: [.none], budgets: [.screens(2)]).run(paths: paths)
            let text = CompareText.text(report).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains("--tile-size 128") && text.contains("--viewport 300x200 --wrap-x"))
            let small = Compare(options: options, policies: [.none], budgets: [.bytes(1024)])
            let error = #expect(throws: ReplayError.self) { try small.run(paths: paths) }
            let words = "--budgets 1KiB holds no tile: one takes 65536 bytes"
            #expect(error?.description == "\(paths[0]): \(words)")
        }
    }
}
