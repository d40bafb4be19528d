import Foundation
import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Zooming out under both clocks. Under the real one sources answer at once, so that the results do not depend on the
/// machine.
@Suite(.timeLimit(.minutes(45))) struct ZoomoutTests {
    private func options(
        _ width: Double,
        _ height: Double,
        factors: [Double],
        clock: ReplayClock = .virtual
    ) -> ZoomoutOptions {
        var options = ZoomoutOptions()
        options.replay.overrides.viewport = PanTraceHeader.Size(width: width, height: height)
        options.factors = factors
        options.replay.clock = clock
        options.replay.loadLatency = 0
        options.replay.speed = clock == .real ? 8 : 1
        return options
    }

    /// Figures that need no cache: 320 x 460 points at 16x are 151 MB. That is 37.7 million pixels.
    @Test func whatOneBitmapWouldTake() throws {
        let small = try Zoomout(options(320, 460, factors: [16]))
        #expect(try small.bitmapBytes(16) == 37_683_200 * 4)
        #expect(try small.bitmapBytes(1) == 588_800)
        let large = try Zoomout(options(3840, 2160, factors: [16]))
        #expect(try large.bitmapBytes(16) == 8_493_465_600)
        #expect(try Zoomout(options(1920, 1080, factors: [1024])).bitmapBytes(1024) == 8_697_308_774_400)
    }

    @Test func theTableFitsATerminal() throws {
        let report = try Zoomout(options(3840, 2160, factors: [8192, 1_048_576])).run()
        let table = ZoomoutText.text(report).split(separator: "\n")
        #expect(table.allSatisfy { $0.count <= 80 } && table[1].contains("2.0 PiB"), "\(table)")
    }

    /// Counted tile by tile.
    @Test func whatAllFinestTilesWouldTake() throws {
        for factor in [1.0, 2, 3.5, 16] {
            let zoomout = try Zoomout(options(320, 460, factors: [factor]))
            let (x, y) = (131_072 * 0.53, 131_072 * 0.47)
            func tiles(_ middle: Double, _ size: Double) -> Int {
                let (low, high) = (middle - size / 2, middle + size / 2)
                return (0..<512).filter { Double($0 + 1) * 256 > low && Double($0) * 256 < high }.count
            }
            let count = tiles(x, 320 * factor) * tiles(y, 460 * factor)
            #expect(try zoomout.fullResolutionBytes(factor) == count * 262_144)
        }
    }

    @Test func whatIsToldToStopHasTheFactorsThatWereDone() throws {
        var begun = 0
        let zoomout = try Zoomout(options(320, 460, factors: [1, 2, 4]))
        let report = try zoomout.run(shouldStop: { begun == 2 }, progress: { number, _ in begun = number })
        #expect(report.interrupted && report.rows.map(\.factor) == [1])
        #expect(try ZoomOutPage.text(report).contains("interrupted"))
        let none = try zoomout.run(shouldStop: { true })
        #expect(none.interrupted && none.rows.isEmpty)
        // Nothing was checked.
        #expect(!none.checks.passed && ZoomoutText.text(none).contains("checks     none: no factor was done"))
        #expect(try !ZoomOutPage.text(none).isEmpty)
    }

    @Test(arguments: ReplayClock.allCases, [false, true])
    func theCacheStaysWithinItsLimitHoweverFarOut(clock: ReplayClock, isFullResolutionOnly: Bool) throws {
        let factors: [Double] = isFullResolutionOnly ? [1, 16] : [1, 16, 1024]
        var options = options(320, 460, factors: factors, clock: clock)
        options.isFullResolutionOnly = isFullResolutionOnly
        let report = try Zoomout(options).run()
        // 4 (320 / 256 + 2)(460 / 256 + 2) = 49.36 tiles of 256 KiB.
        #expect(report.checks.byteLimit == 49 * 262_144)
        // (ceil(640 / 256) + 1)(ceil(920 / 256) + 1).
        #expect(report.checks.tileBound == 20)
        #expect(report.checks.mostNeededTiles <= 20 && report.checks.mostNeededTiles > 4)
        for row in report.rows {
            #expect(row.peakBytes <= report.checks.byteLimit && row.peakBytes >= row.neededBytes)
            #expect(row.neededTiles <= 20 && row.neededTiles >= 4)
            #expect(row.neededBytes == row.neededTiles * 262_144)
            #expect(row.factor == 1 || row.hitRate != nil)
        }
        #expect(report.checks.passed)
    }

    /// The view then draws a coarser level, whose tiles fit. The shortfall is that of the level it left.
    @Test(arguments: ReplayClock.allCases)
    func aLimitBelowOneScreenIsReported(clock: ReplayClock) throws {
        var options = options(320, 460, factors: [2], clock: clock)
        #expect(try Zoomout(options).run().checks.shortfallBytes == 0)
        options.replay.memoryLimit = .tiles(5)
        let report = try Zoomout(options).run()
        #expect(report.checks.screenBytes >= 6 * 262_144)
        // Tables are additional.
        #expect(report.checks.shortfallBytes > report.checks.screenBytes - report.checks.byteLimit)
        #expect(ZoomoutText.text(report).hasPrefix("limit too small: one screen needs"))
    }

    /// The default: no system clock, no pixels, the same figures on a loaded machine.
    @Test(arguments: [false, true])
    func underTheVirtualClockEveryRunIsTheSame(isFullResolutionOnly: Bool) throws {
        var options = ZoomoutOptions()
        #expect(options.replay.clock == .virtual)
        options.replay.overrides.viewport = PanTraceHeader.Size(width: 320, height: 460)
        options.factors = [1, 16]
        options.isFullResolutionOnly = isFullResolutionOnly
        let report = try Zoomout(options).run()
        #expect(try JSONText.of(report) == JSONText.of(Zoomout(options).run()))
        #expect(report.configuration["clock"] == .text("virtual"))
        // Pinches in progress are followed. Made levels take longer.
        #expect(report.rows[1].hitRate.map { isFullResolutionOnly ? $0 > 0 && $0 < 1 : $0 == 1 } == true)
        // Slower loads leave more blank or coarse area.
        options.replay.loadLatency = 400_000_000
        let slow = try Zoomout(options).run()
        #expect(try #require(slow.rows[1].sharp) < #require(report.rows[1].sharp))
        // Tiles made from finer ones take longer than loaded ones.
        guard isFullResolutionOnly else { return }
        options.isFullResolutionOnly = false
        let loaded = try Zoomout(options).run()
        #expect(try #require(slow.rows[1].sharp) < #require(loaded.rows[1].sharp))
    }

    @Test func whatTheVirtualClockWouldIgnoreIsRefused() {
        var options = ZoomoutOptions()
        options.factors = [2]
        #expect(throws: Never.self) { try Zoomout(options) }
        options.replay.speed = 2
        #expect(throws: ReplayError.speedWithoutRealClock) { try Zoomout(options) }
        options.replay.clock = .real
        #expect(throws: Never.self) { try Zoomout(options) }
        options = ZoomoutOptions()
        options.replay.loadLatency = nil
        #expect(throws: ReplayError.self) { try Zoomout(options) }
        options = ZoomoutOptions()
        options.downsampling = .sRGB
        #expect(throws: ReplayError.self) { try Zoomout(options) }
    }

    @Test func theFieldsAreThoseOfTheContract() throws {
        let row = ZoomoutReport.Row(
            factor: 2,
            bitmapBytes: 1,
            fullResolutionBytes: 2,
            neededTiles: 3,
            neededBytes: 4,
            peakBytes: 5,
            hitRate: nil,
            sharp: 0.5,
            blank: 0
        )
        let report = ZoomoutReport(configuration: [:], rows: [row], tileBound: 9, mostNeededTiles: 3, byteLimit: 10)
        let object = try JSONSerialization.jsonObject(with: Data(try JSONText.of(report).utf8))
        let fields = try #require(object as? [String: Any])
        #expect(Set(fields.keys) == ["schema", "configuration", "interrupted", "rows", "checks"])
        let first = try #require((fields["rows"] as? [[String: Any]])?.first)
        #expect(
            Set(first.keys) == [
                "factor", "bitmapBytes", "fullResolutionBytes", "neededTiles", "neededBytes", "peakBytes", "hitRate",
                "sharp", "blank",
            ]
        )
        #expect(first["hitRate"] is NSNull)
    }

    @Test func checksFailWhereTheyShould() {
        func report(_ peaks: [Int], most: Int = 9, limit: Int = 100) -> Bool {
            let rows = peaks.map {
                ZoomoutReport.Row(
                    factor: 1,
                    bitmapBytes: 0,
                    fullResolutionBytes: 0,
                    neededTiles: 0,
                    neededBytes: 0,
                    peakBytes: $0
                )
            }
            return ZoomoutReport(configuration: [:], rows: rows, tileBound: 9, mostNeededTiles: most, byteLimit: limit)
                .checks.passed
        }
        #expect(report([100]))
        #expect(!report([101]))
        #expect(!report([50], most: 10))
        #expect(report([10, 20, 91, 91, 91, 91, 91, 100]))
        #expect(report([10, 90, 90, 90, 90, 90, 100]))
        #expect(!report([10, 20, 90, 90, 90, 90, 90, 100]))
    }

    @Test func aPinchGoesOutAndComesBack() {
        for factor in [1.0, 2, 3, 16, 1024] {
            let path = PinchPath(factor: factor)
            var last = 0.0
            var isBack = false
            for step in 0...Int(path.duration * 60) {
                let octaves = path.octaves(at: Double(step) / 60)
                #expect(octaves >= 0 && octaves <= path.octaves)
                if octaves < last - 1e-9 { isBack = true }
                #expect(!isBack || octaves <= last + 1e-9)
                // A pinch of an octave in half a second never exceeds 4 octaves a second.
                #expect(abs(octaves - last) < 4.0 / 60)
                last = octaves
            }
            #expect(path.octaves(at: path.duration) == 0)
            #expect(path.isFarthest(at: path.duration / 2))
        }
        #expect(PinchPath(factor: 1024).duration == 1.5 + 16)
    }

    @Test func factorsAreReadAsTheyAreWritten() {
        #expect(ZoomoutOptions.factors("1..1024") == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
        #expect(ZoomoutOptions.factors("4..40") == [4, 8, 16, 32])
        #expect(ZoomoutOptions.factors("16") == [16])
        #expect(ZoomoutOptions.factors("1,2.5,16") == [1, 2.5, 16])
        for text in ["", "0", "1,", "16..4", "x", "1...4", "-1", "1..2000000", "5..7"] {
            #expect(ZoomoutOptions.factors(text) == nil, "\(text)")
        }
    }

    @Test func whatCannotBeIsRefused() {
        var options = ZoomoutOptions()
        options.isFullResolutionOnly = true
        options.factors = [512]
        #expect(throws: ReplayError.self) { try Zoomout(options) }
        options.factors = [256]
        #expect(throws: Never.self) { try Zoomout(options) }
        options.replay.overrides.tileSize = 100
        #expect(throws: ReplayError.self) { try Zoomout(options) }
        options.factors = []
        #expect(throws: ReplayError.self) { try Zoomout(options) }
    }

    @Test(arguments: ["rgba8", "bgra8", "gray8", "gray16", "rgba16", "float32"])
    func everyFormatIsDrawn(name: String) throws {
        var options = options(200, 200, factors: [2])
        options.replay.pixelFormat = try #require(TilePixelFormat(name: name))
        options.replay.clock = .real
        options.replay.loadLatency = nil
        options.isFullResolutionOnly = true
        options.replay.speed = 4
        let report = try Zoomout(options).run()
        #expect(report.checks.passed)
        #expect(report.rows[0].blank ?? 1 < 1)
    }
}
