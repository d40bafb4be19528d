/// Velocity of a finger at its release, from its recent places.
///
/// The slope of the best-fit line over the last 100 ms; zero if the finger rested before it was lifted.
struct VelocityTracker: Hashable, Sendable {
    /// Older places are ignored, in nanoseconds.
    static let window: Int64 = 100_000_000
    /// Time without events after which a finger has stopped, in nanoseconds.
    static let restTime: Int64 = 40_000_000
    /// Places kept at most; a mouse sends up to 8000 a second.
    private static let capacity = 1024

    private var places: [Place] = []

    private struct Place: Hashable, Sendable {
        var time: Int64
        var point: ScrollVector
    }

    mutating func add(_ point: ScrollVector, at time: Int64) {
        if places.last?.time == time { places.removeLast() }
        let first = places.firstIndex { time - $0.time <= Self.window } ?? places.count
        places.removeFirst(max(first, places.count - Self.capacity + 1))
        places.append(Place(time: time, point: point))
    }

    /// Velocity at the release, in screen pixels per second.
    func velocity(at time: Int64) -> ScrollVector {
        guard let last = places.last, time - last.time <= Self.restTime else { return .zero }
        let recent = places.drop { last.time - $0.time > Self.window }
        guard recent.count > 1 else { return .zero }
        let count = Double(recent.count)
        var (meanTime, mean) = (0.0, ScrollVector.zero)
        for place in recent {
            meanTime += Double(place.time - last.time) / 1e9 / count
            mean = mean + (place.point - last.point) * (1 / count)
        }
        var (spread, slope) = (0.0, ScrollVector.zero)
        for place in recent {
            let away = Double(place.time - last.time) / 1e9 - meanTime
            spread += away * away
            slope = slope + (place.point - last.point - mean) * away
        }
        let velocity = slope * (1 / spread)
        return velocity.isFinite ? velocity : .zero
    }
}
