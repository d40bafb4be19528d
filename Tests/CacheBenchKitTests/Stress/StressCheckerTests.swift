import Dispatch
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// The checker detects each kind of violation.
@Suite(.timeLimit(.minutes(45))) struct StressCheckerTests {
    private let tile = TileCoordinate(level: 3, column: 5, row: 2)

    private func bytes(_ tile: TileCoordinate, layer: Int, version: UInt32, style: StressTile.Style) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xDD, count: 64 * 64 * 4)
        bytes.withUnsafeMutableBytes {
            StressTile(layer: layer, tile: tile, version: version).write($0, style: style)
        }
        return bytes
    }

    private func found(
        _ bytes: [UInt8],
        layer: Int = 1,
        at tile: TileCoordinate? = nil,
        style: StressTile.Style
    ) -> StressTile.Found {
        bytes.withUnsafeBytes { StressTile.read($0, layer: layer, tile ?? self.tile, style: style) }
    }

    @Test(arguments: [StressTile.Style.solid, .plain, .noisy]) func pixelsSayWhoseTheyAre(style: StressTile.Style) {
        for version: UInt32 in [1, 2, 77, StressTile.maximumVersion] {
            let good = bytes(tile, layer: 1, version: version, style: style)
            #expect(found(good, style: style) == .version(version))
            for offset in [0, 9, 17, 30, 4096, good.count - 1] {
                var bad = good
                bad[offset] ^= 1
                guard case .wrong = found(bad, style: style) else {
                    Issue.record("byte \(offset) may be anything")
                    continue
                }
            }
            for (layer, other) in [
                (2, tile), (1, TileCoordinate(level: 3, column: 2, row: 5)),
                (1, TileCoordinate(level: 4, column: 5, row: 2)),
            ] {
                guard case .wrong = found(good, layer: layer, at: other, style: style) else {
                    Issue.record("the tile passes for \(other) of layer \(layer)")
                    continue
                }
            }
        }
        guard case .wrong = found(bytes(tile, layer: 1, version: .max, style: style), style: style) else {
            Issue.record("poison passes for a version")
            return
        }
    }

    @Test func versionsAreLegalWhileTheyAreCurrent() {
        let history = StressHistory()
        let place = PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64)
        func objects(_ version: UInt32, _ isStale: Bool = false, _ completed: UInt32? = nil) -> Bool {
            history.objection(
                to: version,
                covering: place,
                isStale: isStale,
                completed: completed ?? history.completed
            ) != nil
        }
        #expect(!objects(1) && objects(2))
        // Outside the tile: the region only touches its edge.
        history.change(.init(region: PixelRect(minX: 64, minY: 0, maxX: 99, maxY: 64))) {
            #expect(!objects(2))
        }
        #expect(!objects(1) && !objects(2) && objects(3))
        history.change(.init(region: PixelRect(minX: 63, minY: 0, maxX: 99, maxY: 64))) {
            // Neither version is wrong during the invalidation.
            #expect(!objects(2) && !objects(3))
        }
        #expect(objects(1) && objects(2) && !objects(3))
        // A frame requested before the invalidation may draw stale pixels.
        #expect(!objects(2, false, 2) && !objects(1, true))
        history.change(.init(keepsStale: false)) {}
        #expect(objects(3) && objects(3, true) && !objects(4) && !objects(4, true))
        // Also after the first changes have been dropped.
        for version: UInt32 in 4..<2004 {
            history.change(.init()) {}
            if !objects(version) || objects(version + 1) || !objects(1) { Issue.record("version \(version)") }
        }
    }

    @Test func moreThanTheLimitIsSeen() {
        var ledger = StressLedger()
        func isLegal(_ used: Int, of limit: Int, highest: Int = 0, _ changes: Int? = 0) -> Bool {
            ledger.observe(used: used, limit: limit, highest: highest, changes: changes) == nil
        }
        #expect(isLegal(100, of: 100))
        #expect(!isLegal(101, of: 100))
        #expect(isLegal(100, of: 100))
        // Lowered while tiles are held: memory may only shrink.
        #expect(isLegal(90, of: 50, 2))
        #expect(isLegal(80, of: 50, 2))
        #expect(!isLegal(81, of: 50, 2))
        #expect(isLegal(50, of: 50, 2) && isLegal(40, of: 50, 2))
        #expect(!isLegal(60, of: 50, 2))
        // Raised and lowered again between two samples.
        #expect(isLegal(40, of: 50, 4))
        #expect(isLegal(70, of: 50, highest: 80, 8))
        #expect(!isLegal(81, of: 50, highest: 0, nil))
        #expect(ledger.maximum == 101)
    }

    /// A limit counts from the start of its change until a sample after its end. Other samples that are taken meanwhile
    /// do not matter.
    @Test func aLimitThatIsBeingSetCountsUntilItHasBeenSampled() {
        var changes = StressChanges(limit: 6)
        changes.begin(limit: 8)
        #expect(changes.takeSample().highest == 8)
        // The limit of 8 takes effect here, is fully used, and is lowered again before the next sample.
        changes.begin(limit: 2)
        changes.end()
        changes.end()
        let sample = changes.takeSample()
        #expect(sample.highest == 8 && sample.begun == 2 && sample.underway == 0)
        #expect(changes.takeSample().highest == 0)
        changes.begin(limit: 3)
        #expect(changes.highest == 3 && changes.underway == 1)
    }

    @Test func memoryThatGrowsIsSeen() {
        var flat = StressMemory()
        var growing = StressMemory()
        for second in 0..<10_000 {
            // Noise, and a first third in which memory fills up.
            let base = min(second, 3000) * 1000 + second % 7 * 100
            flat.add(base, at: Double(second))
            growing.add(base + second * 100, at: Double(second))
        }
        #expect(flat.isFlat(tolerance: 1000) == true)
        #expect(growing.isFlat(tolerance: 1000) == false)
        #expect(flat.samples.count < 960 && flat.spread(40).count == 40)
        #expect(StressMemory().isFlat(tolerance: 1) == nil)
    }

    /// Sums of two arenas: 1000 of the system less 300 and 50 that are free, and 4096 mapped.
    @Test func theHeapIsReadFromTheAllocatorsAccount() {
        let arena = """
            <heap nr="0"><total type="fast" count="1" size="7"/><total type="rest" count="1" size="9"/>
            <system type="current" size="90"/></heap>
            """
        let sums = """
            <total type="fast" count="2" size="50"/>
            <total type="rest" count="3" size="300"/>
            <total type="mmap" count="1" size="4096"/>
            <system type="current" size="1000"/>
            <system type="max" size="2000"/>
            </malloc>
            """
        #expect(HeapInUse.bytes(inAccount: arena + arena + sums) == 4746)
        #expect(HeapInUse.bytes(inAccount: arena + arena) == nil)
        #expect(HeapInUse.bytes(inAccount: "") == nil)
    }

    #if os(Linux) && canImport(Glibc)
        /// Other tests allocate at the same time, so the block is large.
        @Test func theHeapIncludesWhatIsAllocated() throws {
            let before = try #require(HeapInUse.bytes())
            let block = UnsafeMutableRawPointer.allocate(byteCount: 1 << 30, alignment: 16)
            let during = try #require(HeapInUse.bytes())
            block.deallocate()
            let after = try #require(HeapInUse.bytes())
            #expect(during - before > 1 << 29 && during - after > 1 << 29)
        }
    #endif

    /// Violations that need a cache, whose source causes them.
    @Test(arguments: StressLayer.Kind.allCases) func sourcesThatWriteWrongPixelsAreSeen(kind: StressLayer.Kind) throws {
        for wrong in Wrong.allCases {
            // The source's version differs from the decoder's.
            let run = try self.run()
            let number = StressLayer.Kind.allCases.firstIndex(of: kind) ?? 0
            let layer = run.checker.all[number]
            let known = run.checker.completed()
            let level = layer.pyramid.maximumLevel
            var tile = TileCoordinate(level: level, column: 9, row: 9)
            while layer.fate(of: tile) != nil { tile.column += 1 }
            var pixels = [UInt8](repeating: 0, count: layer.tileSize * layer.tileSize * 4)
            pixels.withUnsafeMutableBytes {
                StressTile(layer: number, tile: tile, version: 1).write($0, style: layer.style(of: tile))
            }
            var kinds: Set<StressFindings.Kind> = []
            switch wrong {
            case .nothing: break
            case .torn:
                pixels[pixels.count - 3] ^= 4
                kinds = [.pixels]
            case .outdated:
                layer.history.change(.init()) {}
                kinds = [.generation]
            case .absent:
                while layer.fate(of: tile) == nil { tile.column += 1 }
                pixels.withUnsafeMutableBytes {
                    StressTile(layer: number, tile: tile, version: 1).write($0, style: layer.style(of: tile))
                }
                kinds = [.undelivered]
            case .nowhere:
                tile.column = 1 << level
                kinds = [.place]
            }
            let seen = wrong == .outdated ? run.checker.completed() : known
            pixels.withUnsafeBytes { run.checker.check($0, layer: number, tile, isStale: false, seen) }
            #expect(Set(run.findings.first.map(\.kind)) == kinds, "\(wrong): \(run.findings.first)")
        }
    }

    enum Wrong: CaseIterable { case nothing, torn, outdated, absent, nowhere }

    private func run() throws -> StressRun {
        var options = StressOptions()
        options.features = []
        return try StressRun(options: options, interruption: { false })
    }

    @Test func squaresOfMadeTilesAreLookedAt() throws {
        let run = try run()
        let layer = run.checker.all[3]
        #expect(layer.kind == .synthesized)
        func check(_ change: (inout [UInt32]) -> Void) -> Set<StressFindings.Kind> {
            let before = run.findings.first.count
            var pixels = [UInt32](repeating: 0, count: 64 * 64)
            for y in 0..<64 {
                for x in 0..<64 {
                    let child = TileCoordinate(level: 2, column: 2 + x / 32, row: y / 32)
                    let made = StressTile(layer: 3, tile: child, version: 1)
                    pixels[y * 64 + x] = layer.fate(of: child) == nil ? made.colour : 0
                }
            }
            change(&pixels)
            pixels.withUnsafeBytes {
                run.checker.check(
                    $0,
                    layer: 3,
                    TileCoordinate(level: 1, column: 1, row: 0),
                    isStale: false,
                    run.checker.completed()
                )
            }
            return Set(run.findings.first.dropFirst(before).map(\.kind))
        }
        #expect(check { _ in } == [])
        #expect(check { $0[31 * 64 + 31] ^= 1 } == [.pixels])
        #expect(check { pixels in for index in pixels.indices { pixels[index] = 0 } } == [.pixels])
        layer.history.change(.init()) {}
        #expect(check { _ in } == [.generation])
    }

    @Test func aTileThatChangesWhileItIsHeldIsSeen() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        struct Source: BlockingTileSource {
            func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
                pixels.withUnsafeMutableBytes { $0.storeBytes(of: UInt32(tile.column), as: UInt32.self) }
                return .pixels
            }
        }
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64)
        let view = cache.makeView(layers: [try cache.addLayer(Source(), pyramid: pyramid)])
        let landed = DispatchSemaphore(value: 0)
        view.callbackQueue = DispatchQueue(label: "tests")
        view.onTilesReady = { landed.signal() }
        view.update(TileViewport(center: WorldPoint(x: 600, y: 600), width: 256, height: 192))
        while view.frame().missingTileCount > 0 { landed.wait() }
        let findings = StressFindings()
        var holds = StressHolds(findings: findings)
        let held = view.frame()[0].tile
        holds.take(held)
        holds.checkAll()
        #expect(findings.count == 0)
        held.withUnsafeBytes { UnsafeMutableRawBufferPointer(mutating: $0)[5000] ^= 1 }
        while holds.count > 0 { holds.release(0) }
        #expect(findings.first.map(\.kind) == [.lease])
        #expect(holds.count == 0)
    }

    @Test func findingsMakeItFail() throws {
        let run = try run()
        for number in 0..<20 { run.findings.note(.place, "number \(number)") }
        let report = StressReport(
            run.options,
            run,
            seconds: 1,
            ledger: StressLedger(),
            heap: StressMemory(),
            resident: StressMemory(),
            digests: [],
            shutdownNanoseconds: 1
        )
        #expect(!report.passed && report.verdict == "FAIL" && report.violationCount == 20)
        #expect(report.violations.count == StressFindings.kept)
        let text = StressText.text(report)
        #expect(text.hasPrefix("FAIL") && text.contains("place: number 0") && text.contains("and 12 more"))
    }
}
