import TileCache
import TileScroll

/// An action of a hand, with its time.
struct GestureEvent: Hashable, Sendable {
    var time: Int64
    var event: ScrollEvent
}

/// Events of one finger, from touch to release.
struct FingerPath {
    private let id: Int
    private var time: Int64
    private var place: ScrollVector
    private(set) var events: [GestureEvent]

    init(_ id: Int, from place: ScrollVector, at time: Int64) {
        (self.id, self.place, self.time) = (id, place, time)
        events = [GestureEvent(time: time, event: .touchBegan(id: id, at: place))]
    }

    /// Moves on. `way` is the offset from the present place for each fraction of the duration, from 0 to 1.
    mutating func move(seconds: Double, along way: (Double) -> ScrollVector) {
        let (start, begin) = (time, place)
        let steps = max(1, Int((seconds * 1e9 / Double(GestureHand.eventInterval)).rounded()))
        for step in 1...steps {
            time = start + Int64(step) * GestureHand.eventInterval
            place = begin + way(Double(step) / Double(steps))
            events.append(GestureEvent(time: time, event: .touchMoved(id: id, to: place)))
        }
    }

    /// Lifts the finger; the content moves on.
    mutating func lift(after seconds: Double) {
        time += Int64(seconds * 1e9)
        events.append(GestureEvent(time: time, event: .touchEnded(id: id)))
    }

    /// Releases without a throw, as a mouse does.
    mutating func leave() { events.append(GestureEvent(time: time, event: .touchCancelled(id: id))) }
}

/// Movement of a hand from one place to another: slow, with one quick move between.
enum BallisticPath {
    /// Fraction of the way at constant speed. It gives the speeds of mice both the recorded median and 90th percentile,
    /// which a quick move alone does not.
    private static let evenShare = 0.35

    /// Fraction of the way after a fraction of the time; both from 0 to 1.
    static func share(of part: Double) -> Double {
        // The integral of sin^6, which is near 0 for a third of the time.
        let turn = 2 * Double.pi * part
        let quick =
            part
            - (45 * PortableMath.sin(turn) - 9 * PortableMath.sin(2 * turn) + PortableMath.sin(3 * turn))
            / (60 * Double.pi)
        return evenShare * part + (1 - evenShare) * quick
    }
}
