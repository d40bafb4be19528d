import Testing
import TileCache

@testable import TileScroll

func milliseconds(_ count: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64((count * 1e6).rounded())) }

extension SplitMix64 {
    mutating func unit() -> Double { nextUnit() }
    mutating func whole(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }
}

extension ScrollVector {
    func isClose(to other: ScrollVector, within distance: Double = 1e-9) -> Bool {
        (self - other).length <= distance
    }
}

extension ScrollModel {
    func offset(at count: Double) -> ScrollVector { state(at: milliseconds(count)).offset }
    func scale(at count: Double) -> Double { state(at: milliseconds(count)).scale }

    /// Puts fingers down, moves them straight in a number of steps and leaves them there.
    @discardableResult
    mutating func pull(
        _ ways: [(from: ScrollVector, to: ScrollVector)],
        from start: Double,
        to end: Double,
        steps: Int = 4
    ) -> [ScrollReport] {
        var reports: [ScrollReport] = []
        for (id, way) in ways.enumerated() {
            reports += handle(.touchBegan(id: id, at: way.from), at: milliseconds(start))
        }
        for step in 1...steps {
            let part = Double(step) / Double(steps)
            for (id, way) in ways.enumerated() {
                let place = way.from + (way.to - way.from) * part
                reports += handle(.touchMoved(id: id, to: place), at: milliseconds(start + (end - start) * part))
            }
        }
        return reports
    }

    /// Two fingers about a place, whose distance is multiplied; both are lifted at the end.
    @discardableResult
    mutating func pinch(about place: ScrollVector, by factor: Double, from start: Double, to end: Double)
        -> [ScrollReport]
    {
        let (near, far) = (ScrollVector(x: 20, y: 0), ScrollVector(x: 20 * factor, y: 0))
        let reports = pull([(place - near, place - far), (place + near, place + far)], from: start, to: end)
        return reports + lift(2, at: end)
    }

    @discardableResult
    mutating func lift(_ fingers: Int, at time: Double) -> [ScrollReport] {
        (0..<fingers).flatMap { handle(.touchEnded(id: $0), at: milliseconds(time)) }
    }
}

/// What does not hold in a random session, by its place.
struct GestureProblem: Error {
    var place: SourceLocation
}

/// As `#expect`, which takes microseconds even for what holds: too long for each step of thousands of sessions.
func hold(_ condition: Bool, at place: SourceLocation = #_sourceLocation) throws {
    if !condition { throw GestureProblem(place: place) }
}

/// Runs a hundred seeds. Each as an argument of its own would take longer for its events than for its session.
func eachSeed(ofHundred number: UInt64, _ session: (UInt64) throws -> Void) {
    for seed in number * 100..<(number + 1) * 100 {
        do { try session(seed) } catch {
            guard let problem = error as? GestureProblem else {
                Issue.record(error, "seed \(seed)")
                continue
            }
            Issue.record("seed \(seed): this does not hold", sourceLocation: problem.place)
        }
    }
}

/// Random mixtures of fingers, wheels and commands.
struct RandomGestures {
    var dice: SplitMix64
    var view: ScrollSize
    /// Commands in addition to fingers.
    var hasZooms = true
    var hasWheels = true
    var hasResizes = true
    private(set) var now: Int64 = 0
    private(set) var down: [(id: Int, place: ScrollVector)] = []
    private var lastID = 0

    init(seed: UInt64, view: ScrollSize) {
        dice = SplitMix64(seed: seed)
        self.view = view
    }

    private mutating func place() -> ScrollVector {
        ScrollVector(x: dice.unit() * view.width, y: dice.unit() * view.height)
    }

    mutating func next() -> (event: ScrollEvent, time: MonotonicTime) {
        now += Int64([0, 1, 8, 16, 30, 90, 250, 900][dice.whole(0...7)]) * 1_000_000 + Int64(dice.whole(0...999))
        return (event(), MonotonicTime(nanoseconds: now))
    }

    private mutating func event() -> ScrollEvent {
        let kind = dice.whole(0...99)
        if !down.isEmpty, kind < 70 {
            let index = dice.whole(0...(down.count - 1))
            if kind < 56 {
                let step = ScrollVector(x: dice.unit() - 0.5, y: dice.unit() - 0.5) * (dice.unit() * 160)
                down[index].place = down[index].place + step
                return .touchMoved(id: down[index].id, to: down[index].place)
            }
            let id = down.remove(at: index).id
            return kind < 66 ? .touchEnded(id: id) : .touchCancelled(id: id)
        }
        switch kind {
        case 70..<75 where hasWheels:
            return .scroll(by: ScrollVector(x: dice.unit() - 0.5, y: dice.unit() - 0.5) * 500)
        case 75..<80 where hasWheels: return .magnify(by: 0.3 + dice.unit() * 3, about: place())
        case 80..<83 where hasZooms:
            return .zoom(to: 0.01 + dice.unit() * 3, about: place(), animated: dice.whole(0...1) == 0)
        case 83..<86 where hasZooms: return .doubleTap(at: place())
        case 86 where hasResizes:
            view = ScrollSize(width: view.height, height: view.width)
            return .resize(view)
        default: break
        }
        // Three fingers at the most, of which models use two.
        if down.count == 3 { return .touchEnded(id: down.removeFirst().id) }
        lastID += 1
        down.append((lastID, place()))
        return .touchBegan(id: lastID, at: down[down.count - 1].place)
    }

    /// Lifts all fingers and waits until all motion has ended.
    mutating func rest(_ model: inout some ScrollModel) -> MonotonicTime {
        for finger in down { model.handle(.touchEnded(id: finger.id), at: MonotonicTime(nanoseconds: now)) }
        down.removeAll()
        now += 60_000_000_000
        model.advance(to: MonotonicTime(nanoseconds: now))
        return MonotonicTime(nanoseconds: now)
    }
}

/// Checks that the content between two fingers stays between them if nothing is clamped.
struct PinchWitness {
    private var start: (state: ScrollState, middle: ScrollVector)?
    private(set) var looks = 0

    /// - Parameters:
    ///   - middle: Middle of the two fingers that the model uses; `nil` unless there are two.
    ///   - isFree: Whether offset and scale are within their bounds, and not on them.
    /// - Returns: The slip of the content, as a fraction of the allowed one.
    mutating func look(_ state: ScrollState, middle: ScrollVector?, isFree: Bool) -> Double {
        guard let middle, isFree, state.phase == .zooming else {
            start = nil
            return 0
        }
        guard let start else {
            self.start = (state, middle)
            return 0
        }
        looks += 1
        let world = (start.state.offset + start.middle) * (1 / start.state.scale)
        let slip = world * state.scale - state.offset - middle
        func allowed(_ a: Double, _ b: Double) -> Double { max(1e-6, 4 * max(a.ulp, b.ulp)) }
        return max(
            slip.x.magnitude / allowed(state.offset.x, start.state.offset.x * state.scale / start.state.scale),
            slip.y.magnitude / allowed(state.offset.y, start.state.offset.y * state.scale / start.state.scale)
        )
    }
}
