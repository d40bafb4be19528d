import TileCache

/// Finds the moments of a replay with the largest missing area. A state machine over frames, in bounded memory.
struct MomentRecorder {
    static let keptMoments = 10
    /// Maximum length, so that one long moment does not hide all others.
    private static let longest: Int64 = 2_000_000_000

    struct Frame {
        var time: Int64
        var viewport: TileViewport
        var sharp: Double
        var coarse: Double
        var blank: Double
        var neededTiles: Int
        var missingTiles: Int
        /// Missing tiles whose load had begun before the frame; 0 if unknown.
        var lateTiles = 0
        /// Missing tiles that had been loaded before; 0 if unknown.
        var evictedTiles = 0

        var area: Double { sharp + coarse + blank }
    }

    private struct Open {
        var moment: ReplaySeries.Moment
        var start: Int64
        var hasJumped = false
        var isFirst = false
        var worst: Frame
    }

    /// Number of tiles that fit the limit.
    private let capacityTiles: Int
    private let worldWidth: Double
    private let wrapsX: Bool
    private let frameMilliseconds: Double
    private var last: (time: Int64, viewport: TileViewport)?
    private var open: Open?
    private(set) var worst: [ReplaySeries.Moment] = []

    init(capacityTiles: Int, pyramid: TilePyramid, frameRate: Double) {
        self.capacityTiles = capacityTiles
        worldWidth = pyramid.worldWidth
        wrapsX = pyramid.wrapsX
        frameMilliseconds = 1000 / frameRate
    }

    mutating func note(_ frame: Frame) {
        let before = last
        last = (frame.time, frame.viewport)
        if let began = open, frame.missingTiles == 0 || frame.time - began.start >= Self.longest {
            close(at: frame.time)
        }
        guard frame.missingTiles > 0, frame.area > 0 else { return }
        var now =
            open
            ?? Open(
                moment: .init(seconds: Double(frame.time) / 1e9),
                start: frame.time,
                isFirst: before == nil,
                worst: frame
            )
        if let before { noteMotion(from: before, to: frame, &now) }
        let (blank, coarse) = (frame.blank / frame.area, frame.coarse / frame.area)
        if (blank, coarse) > (now.moment.blank, now.moment.coarse) {
            (now.moment.blank, now.moment.coarse) = (blank, coarse)
            (now.moment.x, now.moment.y) = (frame.viewport.center.x, frame.viewport.center.y)
            now.moment.scale = frame.viewport.scale
            now.moment.missingTiles = frame.missingTiles
            now.worst = frame
        }
        now.moment.blankPixelMilliseconds += frame.blank * frameMilliseconds
        now.moment.coarsePixelMilliseconds += frame.coarse * frameMilliseconds
        open = now
    }

    /// Ends the current moment at the end of the replay.
    mutating func finish() {
        if let last { close(at: last.time + Int64(frameMilliseconds * 1e6)) }
    }

    private func noteMotion(from before: (time: Int64, viewport: TileViewport), to frame: Frame, _ now: inout Open) {
        let (old, new) = (before.viewport, frame.viewport)
        let seconds = Double(max(frame.time - before.time, 1)) / 1e9
        var across = abs(new.center.x - old.center.x)
        if wrapsX { across = min(across, abs(worldWidth - across)) }
        let scale = max(old.scale, new.scale)
        let (dx, dy) = (across * scale, abs(new.center.y - old.center.y) * scale)
        let octaves = PortableMath.log2(new.scale) - PortableMath.log2(old.scale)
        guard dx <= new.width, dy <= new.height, abs(octaves) <= 1 else {
            now.hasJumped = true
            return
        }
        now.moment.speed = max(now.moment.speed, (dx * dx + dy * dy).squareRoot() / seconds)
        if abs(octaves / seconds) > abs(now.moment.zoomSpeed) { now.moment.zoomSpeed = octaves / seconds }
    }

    private mutating func close(at time: Int64) {
        guard var now = open else { return }
        open = nil
        now.moment.duration = Double(time - now.start) / 1e9
        now.moment.cause = cause(now)
        let place = worst.firstIndex { now.moment.isWorse(than: $0) } ?? worst.count
        worst.insert(now.moment, at: place)
        if worst.count > Self.keptMoments { worst.removeLast() }
    }

    private func cause(_ now: Open) -> ReplaySeries.Cause {
        let frame = now.worst
        if now.isFirst { return .start }
        if frame.neededTiles > capacityTiles { return .limit }
        if frame.evictedTiles * 2 > frame.missingTiles { return .evicted }
        if now.hasJumped { return .jump }
        if abs(now.moment.zoomSpeed) > 0.1 { return now.moment.zoomSpeed > 0 ? .zoomIn : .zoomOut }
        return frame.lateTiles * 2 > frame.missingTiles ? .late : .pan
    }
}
