import TileCache
import TileScroll

/// Something that a hand does, and when.
struct GestureEvent: Hashable, Sendable {
    /// In nanoseconds.
    var time: Int64
    var event: ScrollEvent
}

/// The events of one finger, from going down to being lifted.
struct FingerPath {
    private let id: Int
    private var time: Int64
    private var place: ScrollVector
    private(set) var events: [GestureEvent]

    init(_ id: Int, from place: ScrollVector, at time: Int64) {
        (self.id, self.place, self.time) = (id, place, time)
        events = [GestureEvent(time: time, event: .touchBegan(id: id, at: place))]
    }

    /// Moves on from where it is.
    ///
    /// - Parameters:
    ///   - seconds: how long.
    ///   - way: from the place it begins at, for each part of the time from 0 to 1.
    mutating func move(seconds: Double, along way: (Double) -> ScrollVector) {
        let (start, begin) = (time, place)
        let steps = max(1, Int((seconds * 1e9 / Double(GestureHand.eventInterval)).rounded()))
        for step in 1...steps {
            time = start + Int64(step) * GestureHand.eventInterval
            place = begin + way(Double(step) / Double(steps))
            events.append(GestureEvent(time: time, event: .touchMoved(id: id, to: place)))
        }
    }

    /// Lets go; what it moved goes on.
    mutating func lift(after seconds: Double) {
        time += Int64(seconds * 1e9)
        events.append(GestureEvent(time: time, event: .touchEnded(id: id)))
    }

    /// Lets go without a throw, as a mouse does.
    mutating func leave() { events.append(GestureEvent(time: time, event: .touchCancelled(id: id))) }
}

/// How a hand gets from one place to another: slowly, with one quick move between.
enum BallisticPath {
    /// The share of the way that is made at an even speed. With it the speeds of mice have the recorded median beside
    /// the recorded 90th percentile, which a quick move alone has not.
    private static let evenShare = 0.35

    /// How much of the way is done after a part of the time; both from 0 to 1.
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
