import Foundation
import TestSupport

/// Counts of the naive replay.
struct NaiveFigures: Equatable, CustomStringConvertible {
    var demands = 0
    var hits = 0
    var panDemands = 0
    var panHits = 0
    var zoomDemands = 0
    var zoomHits = 0
    /// Demands that were in flight.
    var late = 0
    /// Milliseconds from each missed demand to the frame that could draw it. To a tenth, first frame included.
    var waits: [Double] = []
    /// Frames that needed a tile that was not resident.
    var gapFrames = 0
    /// Maximum number of tiles that a frame needed.
    var mostNeeded = 0
    /// Loads started.
    var loads = 0
    /// Loads whose pixels were never drawn. Evicted unseen, unseen at the end, or still in flight then.
    var unseenLoads = 0

    var description: String {
        "demands \(demands) hits \(hits), pan \(panDemands)/\(panHits), zoom \(zoomDemands)/\(zoomHits), "
            + "loads \(loads) unseen \(unseenLoads), late \(late), waits \(waits.count), gaps \(gapFrames)"
    }

    /// Counts worked out by hand.
    var demandsAndLoads: NaiveFigures {
        var figures = self
        (figures.late, figures.gapFrames, figures.mostNeeded, figures.waits) = (0, 0, 0, [])
        return figures
    }

    /// Percentile of the waits in milliseconds. The smallest that this share of them does not exceed.
    func percentile(_ percent: Int) -> Double? {
        let sorted = waits.sorted()
        return sorted.isEmpty ? nil : sorted[(sorted.count * percent + 99) / 100 - 1]
    }
}

enum NaivePolicy: String, CaseIterable {
    case none
    /// Ring of one tile around the viewport, row by row.
    case ring
}

/// The reference replay by its written definition: sets and arrays, decoded tier only, LRU.
func naiveReplay(
    traceText: String,
    capacityTiles: Int,
    duration: Double = .infinity,
    workers: Int = 4,
    latency: Int64 = 40_000_000,
    policy: NaivePolicy = .none
) -> NaiveFigures {
    let trace = NaiveTrace(traceText)
    var model = NaiveModel(capacity: capacityTiles, workers: workers, latency: latency)
    var earlier = 0
    var frame = 0
    var last: (view: NaiveTrace.Sample, tiles: [NaiveTile], ring: [NaiveTile])?
    while true {
        let now = Int64((Double(frame) * 1e9 / 60).rounded())
        if now > trace.samples.last!.time + 500_000_000 || Double(now) > duration * 1e9 { break }
        while earlier + 1 < trace.samples.count, trace.samples[earlier + 1].time <= now { earlier += 1 }
        let view = trace.sample(at: now, earlier: earlier)
        // Examining every tile of a level is slow, and views mostly stand still.
        if last?.view != view {
            last = (view, trace.tiles(view), policy == .ring ? trace.tiles(view, margin: 1) : [])
        }
        model.frame(
            at: now,
            level: trace.world.idealLevel(scale: view.scale),
            needed: last!.tiles,
            wanted: last!.ring
        )
        frame += 1
    }
    return model.finished()
}

private struct NaiveModel {
    struct Load {
        var tile: NaiveTile
        var finish: Int64
    }

    let capacity: Int
    let workers: Int
    let latency: Int64

    private var figures = NaiveFigures()
    /// Sequence number of each resident tile's last use.
    private var lastUse: [NaiveTile: Int] = [:]
    private var uses = 0
    /// Resident tiles that were never drawn.
    private var unseen: Set<NaiveTile> = []
    /// In order of start and completion: all loads take equally long.
    private var inFlight: [Load] = []
    private var plan: [NaiveTile] = []
    private var needed: Set<NaiveTile> = []
    /// Time of the demand of each needed tile that could not be drawn yet.
    private var demandedAt: [NaiveTile: Int64] = [:]
    private var level: Int?

    init(capacity: Int, workers: Int, latency: Int64) {
        self.capacity = capacity
        self.workers = workers
        self.latency = latency
    }

    mutating func frame(at now: Int64, level: Int, needed tiles: [NaiveTile], wanted: [NaiveTile]) {
        workBetweenFrames(before: now)
        land(at: now)

        for tile in tiles where !needed.contains(tile) {
            if let before = self.level { count(demand: tile, isPan: level == before) }
            if lastUse[tile] == nil { demandedAt[tile] = now }
        }
        self.level = level
        needed = Set(tiles)
        demandedAt = demandedAt.filter { needed.contains($0.key) }
        for (tile, time) in demandedAt where lastUse[tile] != nil {
            figures.waits.append((Double(now - time) / 100_000).rounded() / 10)
            demandedAt[tile] = nil
        }
        figures.gapFrames += tiles.contains { lastUse[$0] == nil } ? 1 : 0
        figures.mostNeeded = max(figures.mostNeeded, needed.count)

        for tile in tiles where lastUse[tile] != nil {
            use(tile)
            unseen.remove(tile)
        }
        plan = tiles + wanted
        start(at: now)
    }

    func finished() -> NaiveFigures {
        var figures = figures
        figures.unseenLoads += unseen.count + inFlight.count
        figures.waits.sort()
        return figures
    }

    private mutating func count(demand tile: NaiveTile, isPan: Bool) {
        let hit = lastUse[tile] != nil ? 1 : 0
        figures.demands += 1
        figures.hits += hit
        figures.late += inFlight.contains { $0.tile == tile } ? 1 : 0
        if isPan {
            figures.panDemands += 1
            figures.panHits += hit
        } else {
            figures.zoomDemands += 1
            figures.zoomHits += hit
        }
    }

    /// Workers that become free between two frames continue with the earlier frame's plan.
    private mutating func workBetweenFrames(before frame: Int64) {
        while let next = inFlight.first?.finish, next < frame {
            land(at: next)
            start(at: next)
        }
    }

    private mutating func land(at now: Int64) {
        while let load = inFlight.first, load.finish <= now {
            inFlight.removeFirst()
            use(load.tile)
            unseen.insert(load.tile)
        }
    }

    private mutating func start(at now: Int64) {
        while inFlight.count < workers, let tile = plan.first {
            if lastUse[tile] != nil || inFlight.contains(where: { $0.tile == tile }) {
                plan.removeFirst()
                continue
            }
            guard makeRoom() else {
                plan = []
                return
            }
            plan.removeFirst()
            inFlight.append(Load(tile: tile, finish: now + latency))
            figures.loads += 1
        }
    }

    private mutating func makeRoom() -> Bool {
        if lastUse.count + inFlight.count < capacity { return true }
        let candidates = lastUse.filter { !needed.contains($0.key) }
        guard let oldest = candidates.min(by: { $0.value < $1.value })?.key else { return false }
        lastUse[oldest] = nil
        if unseen.remove(oldest) != nil { figures.unseenLoads += 1 }
        return true
    }

    private mutating func use(_ tile: NaiveTile) {
        uses += 1
        lastUse[tile] = uses
    }
}
