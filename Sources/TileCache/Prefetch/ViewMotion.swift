/// What a view does, and how long before a demand its loads have to begin.
struct ViewMotion: Sendable {
    /// Rate of the mean number of tiles demanded at once.
    static let burstRate = 0.2
    /// A frame at 60 Hz. Plans are at most as frequent, so loads begin up to that much later.
    static let frameSeconds = 1.0 / 60
    /// Minimum decay of the motion, in leads. With long loads or queues, near tiles are late anyway.
    static let leadsAhead = 1.5

    /// Latest starts of loads that would have landed before a demand, in seconds.
    struct Deadlines {
        /// Behind as many tiles as usually come at once.
        var behindOthers: Double
        /// With a free worker. The first tiles of a burst do not wait for one. With the full lead, every sample would
        /// be late if loads take long, and nothing would be loaded.
        var withFreeWorker: Double
    }

    private let effects: PolicyEffects
    private(set) var estimate: MotionEstimate
    /// The motion's pace at the last change of the needed tiles.
    private var pace = PanPace()
    /// Mean number of tiles demanded at once.
    private var burst = 4.0
    /// How long before its demand a load has to begin, in seconds.
    private(set) var lead = 0.1
    /// Expected duration of a load, in seconds.
    private(set) var latency = 0.04
    private var workers = 4

    init(effects: PolicyEffects) {
        self.effects = effects
        estimate = MotionEstimate(followsZoom: effects.contains(.zoom))
    }

    /// Time of the last frame, in seconds.
    var time: Double { estimate.time }

    /// Whether a further frame of the same viewport would change only the time.
    var isStill: Bool { estimate.isStill }

    /// Speed of the view's pans at the last change of the needed tiles, in screen pixels a second.
    var panSpeed: Double { pace.speed }

    // MARK: - Learning

    /// Takes in a frame.
    mutating func observe(_ frame: FrameObservation) {
        let cover = ViewportCover(pyramid: frame.pyramid, viewport: frame.viewport, levelIndex: max(frame.level, 0))
        estimate.observe(
            frame.viewport,
            box: cover.box,
            level: frame.level,
            time: Double(frame.time) / 1e9,
            period: frame.pyramid.wrapsX ? frame.pyramid.worldWidth : 0
        )
    }

    /// Notes that the last frame changed the needed tiles.
    ///
    /// - Parameter newTiles: Number of tiles that were not needed before; `nil` for the first ones.
    mutating func noteChange(newTiles: Int?) {
        pace = estimate.pace
        guard let newTiles else { return }
        if newTiles > 0 { burst += (Double(newTiles) - burst) * Self.burstRate }
        lead = latency * (1 + burst / Double(workers)) + Self.frameSeconds
    }

    /// Deadlines of loads of tiles that the last frame demanded.
    var deadlines: Deadlines {
        Deadlines(behindOthers: time - lead, withFreeWorker: time - min(latency + Self.frameSeconds, lead))
    }

    // MARK: - Planning

    /// Sets what a plan knows of loads.
    mutating func setLoads(of context: borrowing PlanContext) {
        latency = max(Double(context.loadLatency) / 1e9, 0)
        workers = max(context.workers, 1)
    }

    /// What the motion makes of a target.
    func outlook(on target: PlanTarget, now: Int64) -> Outlook {
        Outlook(
            target: target,
            travel: travel(of: target.rectangle, scale: target.viewport.scale, now: now),
            motion: estimate,
            seesHeading: effects.contains(.heading),
            latency: latency,
            lead: lead,
            workers: workers
        )
    }

    func travel(of view: PixelRect, scale: Double, now: Int64) -> EdgeTravel {
        EdgeTravel(
            view: view,
            scale: scale,
            motion: effects.contains(.motion) ? estimate : nil,
            now: Double(now) / 1e9,
            decay: max(EdgeTravel.decay, Self.leadsAhead * lead)
        )
    }

    /// World rectangle that a view will show after its motion has decayed.
    func expectedRectangle(of view: PixelRect, scale: Double, now: Int64) -> PixelRect {
        let travel = travel(of: view, scale: scale, now: now)
        return PixelRect(
            minX: view.minX + travel.left / scale,
            minY: view.minY + travel.top / scale,
            maxX: view.maxX + travel.right / scale,
            maxY: view.maxY + travel.bottom / scale
        )
    }
}
