import Dispatch
import TestSupport

@testable import TileCache

/// Shared state of the sources of one explored run. A run has one thread.
final class ExploredFaults: @unchecked Sendable {
    let scheduler: StepScheduler
    private var isCalm = false
    /// Requests that are not answered before the end.
    var hanging: [TileRequest] = []
    let answers = DispatchQueue(label: "test.answers")
    /// Faults per hundred loads.
    let percent: Int

    init(_ scheduler: StepScheduler, percent: Int) {
        self.scheduler = scheduler
        self.percent = percent
        // A worker may wait for one of them.
        scheduler.whenWaiting = { [unowned self] in giveUp() }
    }

    /// Sources cause no more faults, and cancel hanging requests.
    func calm() {
        isCalm = true
        giveUp()
    }

    func giveUp() {
        for request in hanging { scheduler.post({ request.cancel() }, on: answers) }
        hanging = []
    }

    func isFault() -> Bool { !isCalm && scheduler.chance(percent) }

    /// A wait before the next try, sometimes an infinite one.
    func wait() -> Int64 { scheduler.chance(5) ? .max : Int64(scheduler.below(2_000_000_000)) }

    static func isAbsent(_ tile: TileCoordinate) -> Bool { (tile.column * 7 + tile.row * 3 + tile.level) % 11 == 0 }
}

/// Blocks while other steps run, then delivers or fails.
struct ExploredBlockingSource: BlockingTileSource {
    let layer: Int
    let faults: ExploredFaults

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        for _ in 0..<faults.scheduler.below(4) { faults.scheduler.interleave() }
        if ExploredFaults.isAbsent(tile) { return .absent }
        if faults.isFault() { throw TileFailure.transient(retryAfter: .nanoseconds(faults.wait())) }
        fill(&pixels, with: expectedPixel(layer: layer, tile))
        return .pixels
    }
}

/// The same, with payloads.
struct ExploredEncodedSource: BlockingTileSource, TileDecoder {
    let plain: ExploredBlockingSource

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let outcome = try plain.load(tile, into: &pixels)
        if outcome == .pixels { NamePayload.keep(tile, in: &pixels) }
        return outcome
    }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        for _ in 0..<plain.faults.scheduler.below(4) { plain.faults.scheduler.interleave() }
        if plain.faults.isFault() || NamePayload.name(in: encoded) != tile { throw .permanent }
        fill(&pixels, with: expectedPixel(layer: plain.layer, tile))
    }
}

/// Answers at once, later, at the end, or never.
struct ExploredAsyncSource: TileSource {
    let layer: Int
    let faults: ExploredFaults

    func requestTile(_ request: TileRequest) {
        let scheduler = faults.scheduler
        if faults.isFault() {
            switch scheduler.below(4) {
            case 0: return
            case 1: return request.fail(.transient(retryAfter: .nanoseconds(faults.wait())))
            case 2: return faults.hanging.append(request)
            default:
                faults.hanging.append(request)
                return request.onCancel { [weak request] in request?.cancel() }
            }
        }
        if scheduler.chance(30) { return answer(request) }
        scheduler.post({ answer(request) }, on: faults.answers)
    }

    func answer(_ request: TileRequest) {
        if ExploredFaults.isAbsent(request.tile) { return request.completeAbsent() }
        request.complete { pixels in
            faults.scheduler.interleave()
            fill(&pixels, with: expectedPixel(layer: layer, request.tile))
            return .pixels
        }
    }
}
