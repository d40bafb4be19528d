import CacheBenchKit
import PanTraces
import TileCache

/// Synthetic motion over a world of 131,072 pixels a side. Each kind moves in one way, the same on every machine for
/// the same seed.
struct GeneratedSession {
    enum Kind: String, CaseIterable, Sendable {
        case flings, pinches, slide, flights, keys, circles, camera, wheel, drift
    }

    static let world = 131_072.0
    private static let step: Int64 = 16_000_000

    private(set) var samples: [PanTraceSample] = []
    private let width: Double
    private let height: Double
    private let seconds: Double
    private var random: SplitMix64
    private var time: Int64 = 0
    private var center = WorldPoint(x: Self.world / 2, y: Self.world / 2)
    private var scale = 0.5

    init(_ kind: Kind, width: Double, height: Double, seconds: Double, seed: UInt64) {
        self.init(width: width, height: height, seconds: seconds, seed: seed)
        while Double(time) < seconds * 1e9 {
            switch kind {
            case .flings: fling()
            case .pinches: pinch()
            case .slide: slide()
            case .flights: fly()
            case .keys: press()
            case .circles: circle()
            case .camera: follow()
            case .wheel: turnWheel()
            case .drift: move(4) { session, _ in session.pan(0.2, 0.05) }
            }
        }
    }

    /// Throws with momentum. The speed falls by a law, and each frame's differs from it by up to 5 %.
    init(throwsBy law: Momentum, width: Double, height: Double, seconds: Double, seed: UInt64) {
        self.init(width: width, height: height, seconds: seconds, seed: seed)
        while Double(time) < seconds * 1e9 {
            fling(by: law)
            rest(random.next(from: 0.3, to: 1))
        }
    }

    /// A session that rests at first, as all do.
    private init(width: Double, height: Double, seconds: Double, seed: UInt64) {
        self.width = width
        self.height = height
        self.seconds = seconds
        random = SplitMix64(seed: seed)
        rest(0.5)
    }

    /// How the speed of a throw falls in a millisecond. It falls by a factor, and by so many pixels a second.
    enum Momentum: CaseIterable, Sendable {
        /// `UIScrollView.DecelerationRate.normal`.
        case normal
        /// `UIScrollView.DecelerationRate.fast`.
        case fast
        /// What Flutter fitted to trackpads of macOS. A factor of .135 a second, and 1,400 pixels a second less in each
        /// second.
        case trackpad

        var factor: Double {
            switch self {
            case .normal: 0.998
            case .fast: 0.99
            case .trackpad: 0.998
            }
        }

        var loss: Double { self == .trackpad ? 1.4 : 0 }
    }

    func input(name: String, tileSize: Int) throws -> ReplayInput {
        let header = PanTraceHeader(
            viewport: .init(width: width, height: height),
            world: .init(width: Self.world, height: Self.world),
            tileSize: tileSize
        )
        return ReplayInput(
            name: name,
            source: "generated",
            scene: try PanTraceScene(header, name: name),
            samples: PanSampleList(samples)
        )
    }

    // MARK: - Kinds

    private mutating func fling() {
        var x = random.next(from: -2500, to: 2500)
        var y = random.next(from: -800, to: 800)
        move(1.5) { session, _ in
            session.pan(x * 0.016, y * 0.016)
            x *= 0.952
            y *= 0.952
        }
        rest(random.next(from: 0.1, to: 0.8))
    }

    private mutating func fling(by law: Momentum) {
        let angle = random.next(from: 0, to: 6.283185307179586)
        let (x, y) = (PortableMath.cos(angle), PortableMath.sin(angle))
        var speed = random.next(from: 1500, to: 12_000)
        // The finger first, which speeds up.
        move(0.1) { session, part in session.pan(x * part * speed * 0.016, y * part * speed * 0.016) }
        while speed > 30 {
            let noise = random.next(from: 0.95, to: 1.05)
            move(0.016) { session, _ in session.pan(x * speed * noise * 0.016, y * speed * noise * 0.016) }
            for _ in 0..<16 { speed = max(speed * law.factor - law.loss, 0) }
        }
    }

    private mutating func pinch() {
        let octaves = random.next(from: 0.7, to: 2.2) * (scale > 0.1 ? -1 : 1)
        let x = random.next(from: -0.4, to: 0.4) * width
        let y = random.next(from: -0.4, to: 0.4) * height
        let length = random.next(from: 0.4, to: 0.9)
        let factor = PortableMath.exp2(octaves * 0.016 / length)
        move(length) { session, _ in session.zoom(factor, x, y) }
        rest(random.next(from: 0.3, to: 1))
        drag(150)
    }

    private mutating func slide() {
        let x = random.next(from: -0.3, to: 0.3) * width
        let y = random.next(from: -0.3, to: 0.3) * height
        let isIn = scale < 0.2
        move(0.5) { session, _ in session.zoom(PortableMath.exp2((isIn ? 2 : -2) * 0.032), x, y) }
        for _ in 0..<(isIn ? 5 : 2) {
            rest(random.next(from: 0.3, to: 0.9))
            drag(300)
        }
    }

    private mutating func fly() {
        let home = (center: center, scale: scale)
        let x = random.next(from: -6, to: 6) * width
        let y = random.next(from: -6, to: 6) * height
        move(1.2) { session, part in
            let slope = part < 0.5 ? -1.0 : 1.0
            session.zoom(PortableMath.exp2(slope * 0.045), 0, 0)
            session.pan(x / 75 / 3, y / 75 / 3)
        }
        rest(0.8)
        drag(200)
        center = home.center
        scale = home.scale
        rest(1)
    }

    private mutating func press() {
        let isSideways = random.nextUnit() < 0.6
        let way = random.nextUnit() < 0.7 ? 0.5 : -0.5
        for _ in 0..<4 {
            pan(isSideways ? way * width : 0, isSideways ? 0 : way * height)
            rest(0.4)
        }
    }

    private mutating func circle() {
        let radius = random.next(from: 300, to: 900)
        move(4) { session, part in
            let angle = part * 6.283185307179586
            session.pan(-PortableMath.sin(angle) * radius * 0.02513, PortableMath.cos(angle) * radius * 0.02513)
        }
    }

    private mutating func follow() {
        var x = 0.0
        var y = 0.0
        let goal = WorldPoint(x: random.next(from: -500, to: 500), y: random.next(from: -500, to: 500))
        move(2) { session, _ in
            x += (goal.x - x) * 0.05
            y += (goal.y - y) * 0.05
            session.pan(x * 0.016, y * 0.016)
        }
    }

    private mutating func turnWheel() {
        let isIn = scale < 0.1
        let x = random.next(from: -0.3, to: 0.3) * width
        let y = random.next(from: -0.3, to: 0.3) * height
        for _ in 0..<3 {
            zoom(isIn ? 2 : 0.5, x, y)
            rest(random.next(from: 0.2, to: 0.7))
        }
        drag(200)
    }

    // MARK: - Parts

    private mutating func drag(_ reach: Double) {
        let x = random.next(from: -reach, to: reach)
        let y = random.next(from: -reach, to: reach)
        move(0.4) { session, part in
            // Smooth at both ends: the derivative of 3 p^2 - 2 p^3.
            let share = 6 * part * (1 - part) / 25
            session.pan(x * share, y * share)
        }
        rest(random.next(from: 0.2, to: 0.8))
    }

    private mutating func pan(_ x: Double, _ y: Double) {
        let margin = min(Self.world / 2, max(width, height) / scale)
        center.x = min(max(center.x + x / scale, margin), Self.world - margin)
        center.y = min(max(center.y + y / scale, margin), Self.world - margin)
    }

    /// About a fixed point of the screen.
    private mutating func zoom(_ factor: Double, _ x: Double, _ y: Double) {
        let next = min(max(scale * factor, 0x1p-6), 1)
        center.x += x / scale - x / next
        center.y += y / scale - y / next
        scale = next
        pan(0, 0)
    }

    private mutating func move(_ length: Double, _ change: (inout GeneratedSession, _ part: Double) -> Void) {
        let steps = max(Int64(length * 1e9) / Self.step, 1)
        for number in 1...steps {
            change(&self, Double(number) / Double(steps))
            time += Self.step
            record()
        }
    }

    private mutating func rest(_ length: Double) {
        if time > 0 {
            time += Self.step
            record()
        }
        time += max(Int64(length * 1e9), Self.step)
        record()
    }

    private mutating func record() {
        let at = samples.isEmpty ? 0 : time
        samples.append(PanTraceSample(time: at, center: center, scale: scale))
    }
}
