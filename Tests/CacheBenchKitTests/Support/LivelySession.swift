import PanTraces
import TileCache

@testable import CacheBenchKit

/// A session with nearly continuous motion, so that a few seconds suffice for a test.
///
/// Visits three places of the world in turn: zooms in by steps, drags, flings and pauses there, and zooms out. Then the
/// view jumps back to the first one. Each seed gives another session.
struct LivelySession {
    static let worldSize = 131_072
    static let viewport = PanTraceHeader.Size(width: 1280, height: 720)

    /// Samples of the view, every 8 ms during motion.
    let samples: [PanTraceSample]

    init(seed: UInt64 = 1) {
        var actor = SessionActor(seed: seed)
        actor.play()
        samples = actor.samples
    }

    var header: PanTraceHeader {
        let world = PanTraceHeader.Size(width: Double(Self.worldSize), height: Double(Self.worldSize))
        return PanTraceHeader(viewport: Self.viewport, world: world, wrapsX: true)
    }
}

extension ReplayInput {
    /// The lively session of the options' seed.
    init(lively options: ReplayOptions) throws {
        let session = LivelySession(seed: options.seed)
        self.init(
            name: "lively",
            source: ".",
            scene: try PanTraceScene(session.header, overrides: options.overrides, name: "lively"),
            samples: PanSampleList(session.samples)
        )
    }
}

/// Generates the motion of a ``LivelySession``.
private struct SessionActor {
    private(set) var samples: [PanTraceSample] = []
    private var random: SplitMix64
    private var time: Int64 = 0
    private var center: WorldPoint
    private var scale: Double

    private static let step: Int64 = 8_000_000
    private static let world = Double(LivelySession.worldSize)

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        // The whole world, slightly narrower than the screen.
        center = WorldPoint(x: Self.world / 2, y: Self.world / 2)
        scale = 0x1p-7
        record()
    }

    mutating func play() {
        pause(1)
        var firstPlace = (center: center, scale: scale)
        for visit in 0..<3 {
            zoomIn()
            lookAround()
            if visit == 0 { firstPlace = (center, scale) }
            zoomOut()
        }
        pause(1.2)
        (center, scale) = firstPlace
        time += Self.step
        record()
        pause(1.5)
        lookAround()
        pause(1)
    }

    private mutating func zoomIn() {
        for _ in 0..<3 {
            zoom(octaves: random.next(from: 1, to: 2.2), seconds: random.next(from: 0.5, to: 1.1))
            pause(random.next(from: 0.3, to: 0.9))
        }
    }

    private mutating func zoomOut() {
        for _ in 0..<2 {
            zoom(octaves: -random.next(from: 1.3, to: 2.3), seconds: random.next(from: 0.4, to: 0.9))
            pause(random.next(from: 0.2, to: 0.6))
        }
    }

    private mutating func lookAround() {
        for _ in 0..<4 {
            drag(right: random.next(from: -350, to: 350), down: random.next(from: -200, to: 200))
            pause(random.next(from: 0.2, to: 1.1))
        }
        fling()
        pause(random.next(from: 0.4, to: 1))
        drag(right: random.next(from: -250, to: 250), down: random.next(from: -150, to: 150))
        fling()
        pause(random.next(from: 0.5, to: 1.3))
    }

    /// Rests. The end of a pause is a sample, or the next movement would seem to start with it.
    private mutating func pause(_ seconds: Double) {
        time += Self.nanoseconds(seconds)
        record()
    }

    /// Drags the map by some screen pixels, smoothly at both ends.
    private mutating func drag(right: Double, down: Double) {
        let start = center
        move(seconds: random.next(from: 0.3, to: 0.7)) { actor, part in
            actor.center.x = start.x - right * part / actor.scale
            actor.center.y = start.y - down * part / actor.scale
        }
    }

    /// Flings the map, which comes to rest as its speed decays.
    private mutating func fling() {
        // Speeds in screen pixels a second; the decay of a touch screen, a third left after 0.33 s.
        let right = random.next(from: 700, to: 2600) * (random.next() & 1 == 0 ? 1 : -1)
        let down = random.next(from: -700, to: 700)
        let decay = 0.325
        let start = center
        let seconds = 1.6
        move(seconds: seconds, eased: false) { actor, part in
            let way = decay * (1 - PortableMath.exp(-seconds * part / decay))
            actor.center.x = start.x - right * way / actor.scale
            actor.center.y = start.y - down * way / actor.scale
        }
    }

    /// Zooms about a fixed point of the screen, between the whole world and 1.4:1.
    private mutating func zoom(octaves wanted: Double, seconds: Double) {
        let now = PortableMath.log2(scale)
        let octaves = min(max(now + wanted, -7), 0.5) - now
        let right = random.next(from: -0.3, to: 0.3) * LivelySession.viewport.width
        let down = random.next(from: -0.3, to: 0.3) * LivelySession.viewport.height
        let startScale = scale
        let fixed = WorldPoint(x: center.x + right / scale, y: center.y + down / scale)
        move(seconds: seconds) { actor, part in
            actor.scale = startScale * PortableMath.exp2(octaves * part)
            actor.center.x = fixed.x - right / actor.scale
            actor.center.y = fixed.y - down / actor.scale
        }
    }

    /// Makes samples during motion; the completed fraction goes from 0 to 1.
    private mutating func move(
        seconds: Double,
        eased: Bool = true,
        _ change: (inout SessionActor, _ part: Double) -> Void
    ) {
        let steps = max(1, Self.nanoseconds(seconds) / Self.step)
        for step in 1...steps {
            let part = Double(step) / Double(steps)
            // Smooth start and end: 10 p^3 - 15 p^4 + 6 p^5.
            change(&self, eased ? part * part * part * (10 + part * (6 * part - 15)) : part)
            let margin = min(Self.world / 2, LivelySession.viewport.height / scale / 2)
            center.y = min(max(center.y, margin), Self.world - margin)
            time += Self.step
            record()
        }
    }

    private mutating func record() {
        samples.append(PanTraceSample(time: time, center: center, scale: scale))
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 {
        Int64((seconds * 1e9).rounded())
    }
}
