import PanTraces
import TestSupport
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Texture slots in replays under the virtual clock.
@Suite(.timeLimit(.minutes(45))) struct ReplayTextureTests {
    private func options(_ change: (inout ReplayOptions) -> Void = { _ in }) -> ReplayOptions {
        var options = ReplayOptions()
        options.duration = 15_000_000_000
        options.memoryLimit = .screens(4)
        change(&options)
        return options
    }

    private func replayed(_ options: ReplayOptions) throws -> ReplayReport {
        try Replay(options).run([{ try ReplayInput(lively: options) }]).total
    }

    /// With room for everything, slots delay no tile. Each is drawn from its slot in the frame that could draw it
    /// anyway. The cache does the same as without slots.
    @Test func enoughSlotsChangeNothing() throws {
        let plain = try replayed(options { $0.memoryLimit = .bytes(2 << 30) })
        let slotted = try replayed(
            options {
                $0.memoryLimit = .bytes(2 << 30)
                $0.textures = .init(slots: 10_000, uploadBytes: 1 << 30)
            }
        )
        let textures = try #require(slotted.textures)
        #expect(plain.textures == nil && textures.demands == plain.demands.total)
        #expect(textures.sharpAtOnce == plain.demands.decodedHits + plain.demands.compressedHits)
        #expect(textures.timeToSharp.p50 == plain.timeToSharp.p50)
        #expect(textures.timeToSharp.p95 == plain.timeToSharp.p95)
        #expect(textures.waitingFrames == 0 && textures.levelBias == 0 && textures.levelBiasChanges == 0)
        #expect(textures.aheadDrawn > 0 && textures.aheadDrawn <= textures.aheadUploads)
        #expect(textures.uploadedBytes == textures.uploads * 256 * 256 * 4)
        var same = slotted
        (same.textures, same.configuration) = (nil, plain.configuration)
        #expect(same == plain)
    }

    /// A tile that the cache has evicted is still drawn from its slot.
    @Test func slotsOutliveTheCache() throws {
        let report = try replayed(
            options {
                $0.memoryLimit = .screens(2)
                $0.textures = .init(slots: 10_000, uploadBytes: 1 << 30)
            }
        )
        let hits = report.demands.decodedHits + report.demands.compressedHits
        #expect(try #require(report.textures).sharpAtOnce > hits)
    }

    @Test func uploadsKeepWithinTheirBudget() throws {
        let tileBytes = 256 * 256 * 4
        let ample = try #require(
            try replayed(options { $0.textures = .init(slots: 512, uploadBytes: 64 * tileBytes) }).textures
        )
        let scarce = try #require(
            try replayed(options { $0.textures = .init(slots: 512, uploadBytes: 2 * tileBytes - 1) }).textures
        )
        #expect(scarce.peakUploads == 1 && scarce.peakUploadedBytes == tileBytes)
        #expect(ample.peakUploads > 2 && ample.peakUploads <= 64)
        #expect(scarce.waitingFrames > ample.waitingFrames && scarce.sharpAtOnce < ample.sharpAtOnce)
        #expect(try #require(scarce.timeToSharp.p95) >= #require(ample.timeToSharp.p95))
        // A wait lasts at least a frame.
        #expect(try #require(scarce.timeToSharp.p50) > 16)
    }

    @Test func fewSlotsMakeTheViewCoarser() throws {
        let full = try replayed(options { $0.textures = .init(slots: 1000) })
        let textures = try #require(full.textures)
        let few = try #require(try replayed(options { $0.textures = .init(slots: textures.neededSlots / 3) }).textures)
        let enough = try #require(try replayed(options { $0.textures = .init(slots: textures.neededSlots) }).textures)
        #expect(enough.levelBias == 0)
        #expect(few.levelBias > 0.5 && few.levelBias < 2 && few.levelBiasChanges == 1)
        #expect(few.neededSlots == textures.neededSlots && few.demands < textures.demands)
    }

    @Test func replaysAreReproducibleAndPooled() throws {
        let options = options { $0.textures = .init(slots: 64, uploadBytes: 1 << 20) }
        let run = {
            try Replay(options).run([{ try ReplayInput(lively: options) }, { try ReplayInput(lively: options) }])
        }
        let (first, second) = (try run(), try run())
        #expect(first.traces == second.traces)
        let one = try #require(first.traces[0].textures)
        let all = try #require(first.total.textures)
        #expect(all.uploads == 2 * one.uploads && all.peakUploads == one.peakUploads && all.frames == 2 * one.frames)
        #expect(all.timeToSharp == one.timeToSharp && all.uploadsPerFrame == one.uploadsPerFrame)
        #expect(ReplayText.text(first).contains("textures: "))
        #expect(ReplayFlags.words(configuration(first)).contains("--texture-slots 64"))
        #expect(ReplayFlags.words(configuration(first)).contains("--upload-budget 1048576B"))
    }

    private func configuration(_ result: ReplayResult) -> [String: ConfigurationValue] {
        result.traces[0].configuration
    }

    @Test func wrongOptionsAreRefused() throws {
        func message(_ options: ReplayOptions) throws -> String? {
            do {
                _ = try replayed(options)
                return nil
            } catch let failure as TraceFailure {
                return "\(failure.error)"
            } catch let error as ReplayError {
                return error.description
            }
        }
        let small = try message(options { $0.textures = .init(slots: 4, uploadBytes: 262_143) })
        #expect(small == "--upload-budget 262143B is less than a tile, which takes 262144 bytes")
        let real = try message(
            options {
                $0.textures = .init(slots: 4)
                ($0.clock, $0.loadLatency) = (.real, nil)
            }
        )
        #expect(real == "--texture-slots needs --clock virtual: under the real clock nothing is drawn")
        #expect(try message(options { $0.textures = .init(slots: 0) })?.contains("1 to 65536") == true)
    }
}
