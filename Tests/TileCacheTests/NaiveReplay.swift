import Foundation

/// The reference replay written down a second time, as plainly as it can be: arrays, sets, and no code of the library.
///
/// Decoded tiles only, least recently used, no prefetch. Slow on purpose; the engine has to give the same counts.
struct NaiveReplay {
    struct Counts: Equatable {
        var demands = 0
        var hits = 0
        var panDemands = 0
        var panHits = 0
        var zoomDemands = 0
        var zoomHits = 0
        var loads = 0
        var unseenLoads = 0
        var frames = 0
    }

    private struct Load {
        let tile: NaiveTile
        let finish: Int64
    }

    private let trace: NaiveTrace
    private let capacity: Int
    private let workers: Int
    private let latency: Int64
    private var counts = Counts()
    /// The least recently used first.
    private var resident: [NaiveTile] = []
    /// The resident tiles that have not been drawn since they were loaded.
    private var unseen: Set<NaiveTile> = []
    /// In the order of their starts.
    private var inFlight: [Load] = []
    private var plan: [NaiveTile] = []
    private var needed: [NaiveTile] = []
    /// The level of the frame, also where it shows nothing of the world.
    private var level = 0

    init(trace: NaiveTrace, capacity: Int, workers: Int, latency: Int64) {
        self.trace = trace
        self.capacity = capacity
        self.workers = workers
        self.latency = latency
    }

    static func run(
        _ text: String,
        capacity: Int,
        duration: Double? = nil,
        workers: Int = 4,
        latency: Int64 = 40_000_000
    ) -> Counts {
        var replay = NaiveReplay(
            trace: NaiveTrace(text),
            capacity: capacity,
            workers: workers,
            latency: latency
        )
        return replay.run(duration: duration)
    }

    private mutating func run(duration: Double?) -> Counts {
        let last = trace.samples.last!.time + 500_000_000
        let end = min(last, duration.map { Int64($0 * 1e9) } ?? last)
        var frame = 0
        while true {
            let now = Int64((Double(frame) * 1e9 / 60).rounded())
            if now > end { break }
            finishLoads(before: now)
            land(at: now)
            let (before, levelBefore) = (needed, level)
            lookAround(now)
            if frame > 0 { count(before, levelBefore) }
            touch()
            plan = needed.filter { tile in !resident.contains(tile) && !inFlight.contains { $0.tile == tile } }
            startLoads(now)
            counts.frames += 1
            frame += 1
        }
        counts.unseenLoads += unseen.count + inFlight.count
        return counts
    }

    /// Loads that finish between two frames free their workers for the rest of the plan.
    private mutating func finishLoads(before now: Int64) {
        while let next = inFlight.map(\.finish).min(), next < now {
            land(at: next)
            startLoads(next)
        }
    }

    private mutating func land(at time: Int64) {
        for load in inFlight where load.finish == time {
            resident.append(load.tile)
            unseen.insert(load.tile)
        }
        inFlight.removeAll { $0.finish == time }
    }

    private mutating func lookAround(_ now: Int64) {
        let view = trace.view(at: now)
        level = trace.world.idealLevel(scale: view.scale)
        needed =
            naiveNeededTiles(
                centerX: view.x,
                centerY: view.y,
                width: trace.width,
                height: trace.height,
                scale: view.scale,
                world: trace.world
            ).needed
    }

    private mutating func count(_ before: [NaiveTile], _ levelBefore: Int) {
        for tile in needed where !before.contains(tile) {
            let isHit = resident.contains(tile) ? 1 : 0
            counts.demands += 1
            counts.hits += isHit
            if level == levelBefore {
                counts.panDemands += 1
                counts.panHits += isHit
            } else {
                counts.zoomDemands += 1
                counts.zoomHits += isHit
            }
        }
    }

    private mutating func touch() {
        for tile in needed {
            guard let index = resident.firstIndex(of: tile) else { continue }
            resident.append(resident.remove(at: index))
            unseen.remove(tile)
        }
    }

    private mutating func startLoads(_ now: Int64) {
        while inFlight.count < workers, let tile = plan.first {
            if resident.count + inFlight.count >= capacity {
                guard let victim = resident.first(where: { !needed.contains($0) }) else {
                    plan = []
                    return
                }
                resident.removeAll { $0 == victim }
                if unseen.remove(victim) != nil { counts.unseenLoads += 1 }
            }
            plan.removeFirst()
            inFlight.append(Load(tile: tile, finish: now + latency))
            counts.loads += 1
        }
    }
}

/// A pan trace, read by splitting it at its commas.
struct NaiveTrace {
    struct Sample {
        let time: Int64
        let x: Double
        let y: Double
        let scale: Double
    }

    var width = 0.0
    var height = 0.0
    var world = NaiveWorld(width: 0, height: 0, wraps: false, tileSize: 256)
    var samples: [Sample] = []

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("#") {
                let parts = line.dropFirst(2).components(separatedBy: ": ")
                let numbers = parts[1].components(separatedBy: "x").compactMap(Double.init)
                switch parts[0] {
                case "viewport": (width, height) = (numbers[0], numbers[1])
                case "world": (world.width, world.height) = (numbers[0], numbers[1])
                case "wraps_x": world.wraps = parts[1] == "true"
                case "tile_size": world.tileSize = numbers[0]
                default: break
                }
            } else if !line.hasPrefix("time_s") {
                let numbers = line.split(separator: ",").map { Double($0)! }
                samples.append(
                    Sample(time: Int64((numbers[0] * 1e9).rounded()), x: numbers[1], y: numbers[2], scale: numbers[3])
                )
            }
        }
    }

    func view(at time: Int64) -> (x: Double, y: Double, scale: Double) {
        // The last sample that is not later than the frame, by halving: the only cleverness here.
        var (low, high) = (0, samples.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if samples[middle].time <= time { low = middle } else { high = middle }
        }
        let a = samples[low]
        guard low + 1 < samples.count else { return (a.x, a.y, a.scale) }
        let b = samples[low + 1]
        let larger = max(a.scale, b.scale)
        if abs(log2(b.scale / a.scale)) > 0.5 || abs(b.x - a.x) * larger > width / 2
            || abs(b.y - a.y) * larger > height / 2
        {
            return (a.x, a.y, a.scale)
        }
        let part = Double(time - a.time) / Double(b.time - a.time)
        return (
            a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part,
            a.scale == b.scale ? a.scale : exp(log(a.scale) + (log(b.scale) - log(a.scale)) * part)
        )
    }
}

/// The naive replay as the comparison with the engine calls it: four workers, 40 ms a load.
func naiveReplay(
    traceText: String,
    capacityTiles: Int,
    duration: Double?
) -> (
    demands: Int, hits: Int, panDemands: Int, panHits: Int, zoomDemands: Int, zoomHits: Int, loads: Int,
    unseenLoads: Int
) {
    let counts = NaiveReplay.run(traceText, capacity: capacityTiles, duration: duration)
    return (
        counts.demands, counts.hits, counts.panDemands, counts.panHits, counts.zoomDemands, counts.zoomHits,
        counts.loads, counts.unseenLoads
    )
}
