package import PanTraces
import TileCache

/// Turns the requests of a session into positions, by the smallest move that explains them.
///
/// 1. The size of the view is guessed from the tiles that came within half a second of a new zoom (a second, if times are
///    whole seconds), where these fill three quarters of their box and none beside it was requested before: the browser's
///    own cache had nothing to show. A view of w tiles shows w + 1 columns on average. The mean of the middle half of the
///    boxes counts, so that a pan right after the zoom does not decide.
/// 2. Requests are one burst while the zoom is the same, none comes more than 250 ms after the one before, and one view
///    can show them all. Bursts of equal time share it out: they are spread over the clock's step.
/// 3. For each burst the centre goes as little as it can from where it was, so that the view shows all its tiles. At a new
///    zoom it also shows no other ones, if the burst is as large as the view: there nothing was in the browser's cache.
///    The scale shows tiles at 1:1.
/// 4. The world wraps if the first and the last column of a zoom came together, without those in the middle.
/// 5. What a client requested before, its browser still had. So a view may have gone out, along and in again without a
///    request: it takes the way on which the cache had all (`CachedWay`), by whole levels and without jumps.
/// 6. A view that rests for more than a second moves at the end of the rest: each step of its way, a move of less than half
///    a view or a zoom, takes at most 400 ms.
package enum RequestPositions {
    /// Longest time between two requests of a burst.
    static let burstPause: Int64 = 250_000_000
    /// A longer time without a move is a rest.
    static let rest: Int64 = 1_000_000_000
    /// Longest duration of a move or a zoom before a burst.
    static let moveTime: Int64 = 400_000_000
    /// Where no zoom shows how large the view is: 1280 x 720 pixels in tiles of 256.
    static let usualView = (width: 5.0, height: 2.8125)

    /// The positions of a session, the first at time 0, the size of its view, and whether its world wraps.
    ///
    /// - Parameters:
    ///   - requests: At least one, with times that do not go back.
    ///   - tileSize: Side of a tile in pixels.
    ///   - viewport: Size of the view in pixels. Default: `nil`, guessed.
    package static func trace(
        of requests: [LoggedTile],
        tileSize: Int,
        viewport: PanTraceHeader.Size? = nil
    ) -> (samples: [PanTraceSample], viewport: PanTraceHeader.Size, wrapsX: Bool) {
        let step: Int64 = requests.allSatisfy { $0.time % 1_000_000_000 == 0 } ? 1_000_000_000 : 1_000_000
        let side = Double(tileSize)
        let view =
            viewport.map { (width: $0.width / side, height: $0.height / side) } ?? view(of: requests, step: step)
        let finest = Int(requests.map(\.zoom).max() ?? 0)
        let wraps = wraps(requests)
        let bursts = bursts(of: requests, view: view, wraps: wraps)
        let times = times(of: bursts, step: step)
        var ways = CachedWay(view: view, tileSize: tileSize, finest: finest, requests: requests.count)
        var samples: [PanTraceSample] = []
        var center: WorldPoint?
        var zoom: UInt8?
        var seen = 0
        for (burst, time) in zip(bursts, times) {
            defer {
                ways.see(requests[seen..<burst.end])
                seen = burst.end
            }
            let pixels = ways.side(Int(burst.zoom))
            let isNew = burst.zoom != zoom
            var box = burst.box
            if wraps, let center { box = box.nearest(to: center.x / pixels, wrappingAfter: columns(of: burst.zoom)) }
            let here = WorldPoint(
                x: nearest(to: center.map { $0.x / pixels }, box.columns, view.width, tileSize, isNew) * pixels,
                y: nearest(to: center.map { $0.y / pixels }, box.rows, view.height, tileSize, isNew) * pixels
            )
            let position = CachedWay.Position(center: here, zoom: burst.zoom)
            if let last = samples.last, let center, let zoom {
                guard isNew || here != center else { continue }
                let way = ways.positions(from: .init(center: center, zoom: zoom), to: position)
                samples += Self.samples(of: way, after: last, until: time - times[0], ways)
            } else {
                samples.append(PanTraceSample(time: 0, center: here, scale: Double(tileSize) / pixels))
            }
            (center, zoom) = (here, burst.zoom)
        }
        // The largest view that a trace may have.
        func pixels(_ tiles: Double) -> Double { min((tiles * Double(tileSize)).rounded(), 1e6) }
        return (samples, viewport ?? .init(width: pixels(view.width), height: pixels(view.height)), wraps)
    }

    /// A way with times, which ends at a burst.
    private static func samples(
        of way: [CachedWay.Position],
        after last: PanTraceSample,
        until end: Int64,
        _ ways: CachedWay
    ) -> [PanTraceSample] {
        let gap = end - last.time
        // As many nanoseconds as steps: no time for more than the last one.
        let way = gap < way.count ? way.suffix(1) : way[...]
        let step = min(gap / Int64(way.count), moveTime)
        var samples: [PanTraceSample] = []
        let start = end - step * Int64(way.count)
        if gap > rest, start > last.time {
            var rested = last
            rested.time = start
            samples.append(rested)
        }
        return samples
            + way.reversed().enumerated().reversed().map { index, position in
                let scale = PortableMath.exp2(Double(position.zoom)) / PortableMath.exp2(ways.finestZoom)
                return PanTraceSample(time: end - step * Int64(index), center: position.center, scale: scale)
            }
    }

    // MARK: - Steps

    /// Size of the view in tiles.
    static func view(of requests: [LoggedTile], step: Int64) -> (width: Double, height: Double) {
        let window = max(500_000_000, step)
        var widths: [Double] = []
        var heights: [Double] = []
        var seen: Set<LoggedTile> = []
        var first = 0
        while first < requests.count {
            let start = requests[first]
            let end = requests[first...].firstIndex { $0.zoom != start.zoom } ?? requests.count
            let run = requests[first..<end]
            let early = run.prefix { $0.time - start.time <= window }
            let box = early.reduce(TileBox(start)) { $0.with($1) }
            let count = Double(Set(early.map(\.tile)).count)
            if count > 1, count >= 0.75 * box.width * box.height, seen.isDisjoint(with: box.tilesAndNeighbours(start)) {
                widths.append(box.width)
                heights.append(box.height)
            }
            seen.formUnion(run.lazy.map(\.tile))
            first = end
        }
        guard !widths.isEmpty else { return usualView }
        return (max(middleMean(widths) - 1, 1), max(middleMean(heights) - 1, 1))
    }

    /// Mean of the values without the lowest and the highest quarter.
    static func middleMean(_ values: [Double]) -> Double {
        let quarter = values.count / 4
        let middle = values.sorted()[quarter..<(values.count - quarter)]
        return middle.reduce(0, +) / Double(middle.count)
    }

    static func columns(of zoom: UInt8) -> Double { PortableMath.exp2(Double(zoom)) }

    /// Whether a view showed both edges of the world and not its middle.
    static func wraps(_ requests: [LoggedTile]) -> Bool {
        var first = 0
        while first < requests.count {
            let start = requests[first]
            let rest = zip(requests[first...], requests[(first + 1)...])
            let count = rest.prefix { $1.zoom == start.zoom && $1.time - $0.time <= burstPause }.count + 1
            let run = requests[first..<(first + count)]
            let last = UInt32(columns(of: start.zoom)) - 1
            if run.contains(where: { $0.x == 0 }), run.contains(where: { $0.x == last }) {
                let columns = Set(run.map(\.x)).sorted()
                // Their one gap is the middle, which a view that does not wrap would show too.
                if zip(columns, columns.dropFirst()).count(where: { $1 - $0 > 1 }) == 1 { return true }
            }
            first += count
        }
        return false
    }

    struct Burst: Hashable {
        var time: Int64
        var zoom: UInt8
        var box: TileBox
        /// Number of requests up to its end.
        var end: Int
    }

    static func bursts(
        of requests: [LoggedTile],
        view: (width: Double, height: Double),
        wraps: Bool = false
    ) -> [Burst] {
        var bursts: [Burst] = []
        var last: Int64 = 0
        var isNew = true
        for (index, request) in requests.enumerated() {
            defer { last = request.time }
            if let burst = bursts.last, burst.zoom == request.zoom, request.time - last <= burstPause {
                let box =
                    wraps
                    ? burst.box.with(request, wrappingAfter: columns(of: burst.zoom)) : burst.box.with(request)
                // Loads of a new zoom may come in any order: one column more than the guess does not split them.
                let spare: Double = isNew ? 3 : 2
                if box.width < view.width + spare, box.height < view.height + spare {
                    bursts[bursts.count - 1].box = box
                    bursts[bursts.count - 1].end = index + 1
                    continue
                }
            }
            isNew = bursts.last?.zoom != request.zoom
            let box = TileBox(request)
            bursts.append(Burst(time: request.time, zoom: request.zoom, box: box, end: index + 1))
        }
        return bursts
    }

    /// Strictly increasing times. Bursts of equal time are spread over a step of the clock.
    static func times(of bursts: [Burst], step: Int64) -> [Int64] {
        var times: [Int64] = []
        var first = 0
        while first < bursts.count {
            let end = bursts[first...].firstIndex { $0.time != bursts[first].time } ?? bursts.count
            for index in first..<end {
                let part = step / Int64(end - first) * Int64(index - first)
                times.append(max(bursts[index].time + part, (times.last ?? .min) + 1))
            }
            first = end
        }
        return times
    }

    /// The centre nearest to an earlier one at which a view shows a range of tiles, all in tiles.
    ///
    /// - Parameters:
    ///   - earlier: `nil` for the middle.
    ///   - fits: Whether the view shows no tile beside them, if they are enough for it.
    static func nearest(
        to earlier: Double?,
        _ tiles: ClosedRange<Double>,
        _ view: Double,
        _ tileSize: Int,
        _ fits: Bool
    ) -> Double {
        // An outermost tile shows at least one pixel.
        let pixel = 1 / Double(tileSize)
        var low = tiles.upperBound - view / 2 + pixel
        var high = tiles.lowerBound + 1 + view / 2 - pixel
        if fits, tiles.upperBound + 1 - tiles.lowerBound >= view {
            low = max(low, tiles.lowerBound + view / 2)
            high = min(high, tiles.upperBound + 1 - view / 2)
        }
        guard low <= high, let earlier else { return (tiles.lowerBound + tiles.upperBound + 1) / 2 }
        return min(max(earlier, low), high)
    }
}
