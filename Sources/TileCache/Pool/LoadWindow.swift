/// How many loads of an asynchronous source are in flight, and how many may be.
///
/// A link to a source that is not full takes the same time for a load, however many others are in flight. A full link takes
/// longer with each further load. A line through the times of the last loads over the mean number in flight tells
/// both (least squares that forget). The window grows or shrinks by the gradient: the time that the line gives a load with
/// hardly any other, times a tolerance, divided by the time at the window's size. TCP Vegas compares these two times
/// (Brakmo, O'Malley, Peterson, "TCP Vegas", SIGCOMM 1994). A limiter of concurrent requests (Gradient2 of Netflix'
/// concurrency-limits) has such a tolerance and the same least gradient. That limiter follows the mean time of a long while,
/// which grows with the queue that it makes; the line does not.
struct LoadWindow: Sendable {
    /// A load in flight.
    struct Flight: Hashable, Sendable {
        fileprivate var started: Int64
        /// `LoadWindow.area` at its start.
        fileprivate var area: Double
    }

    /// Size at first.
    static let firstSize = 8.0
    /// Loads in flight at which a link counts as empty.
    private static let alone = 2.0
    /// Time at the window's size, relative to that of a load alone, at which the window keeps its size. A link whose
    /// transfers take as long as its round trip is full.
    private static let tolerance = 2.0
    /// What the window shrinks to at most in the time of a load, relative to its size.
    private static let leastGradient = 0.5
    /// Size down to which a window of the most loads varies, relative to that number.
    private static let leastProbe = 0.75
    /// Samples that the line remembers, relative to the window's size.
    private static let memory = 5.0

    private let range: ClosedRange<Double>
    /// Loads in flight.
    private(set) var count = 0
    private var size: Double
    /// Integral over time of the loads in flight, in loads times seconds.
    private var area = 0.0
    private var last: Int64 = 0
    private var line = Line()
    /// Whether the size varies downwards until a slope is known, since it cannot grow.
    private var isProbingDown = false

    init(_ loads: LoadsInFlight) {
        range = Double(loads.range.lowerBound)...Double(loads.range.upperBound)
        size = min(max(Self.firstSize, range.lowerBound), range.upperBound)
    }

    /// Maximum number of loads in flight.
    var limit: Int { Int(size) }
    var isFull: Bool { count >= limit }

    /// Begins a load.
    mutating func begin(at now: Int64) -> Flight {
        advance(to: now)
        count += 1
        return Flight(started: now, area: area)
    }

    /// Ends a load.
    ///
    /// - Parameter isAnswer: Whether its source has answered, so that its time says something.
    mutating func end(_ flight: Flight, at now: Int64, isAnswer: Bool) {
        advance(to: now)
        count -= 1
        guard isAnswer, now > flight.started else { return }
        let time = (Double(now) - Double(flight.started)) / 1e9
        learn(time: time, inFlight: (area - flight.area) / time)
    }

    private mutating func advance(to now: Int64) {
        guard now > last else { return }
        if count > 0 { area += Double(count) * (Double(now) - Double(last)) / 1e9 }
        last = now
    }

    /// Learns from the time of a load, and the mean number of loads in flight meanwhile, itself included.
    private mutating func learn(time: Double, inFlight: Double) {
        line.add(inFlight, time, memory: 1 - 1 / (Self.memory * size))
        if line.hasSlope { isProbingDown = false }
        // With fewer in flight the size does not matter.
        guard inFlight > size / 2 else { return }
        size = min(max(size + change, range.lowerBound), range.upperBound)
        if size == range.upperBound { isProbingDown = true }
        if size < Self.leastProbe * range.upperBound { isProbingDown = false }
    }

    /// Change of the size with the end of a load.
    private var change: Double {
        // Loads among always as many others tell nothing: the size has to vary.
        guard line.hasSlope else { return isProbingDown ? -1 : 1 }
        let loaded = line.value(at: size)
        let gradient = loaded > 0 ? Self.tolerance * line.value(at: Self.alone) / loaded : 1
        // Where others cost no time, the window doubles in the time of a load.
        return gradient > 1 ? (gradient - 1) / (Self.tolerance - 1) : max(gradient, Self.leastGradient) - 1
    }
}

/// A line through points by least squares; older points count less.
private struct Line: Sendable {
    private var weight = 0.0
    private var meanX = 0.0
    private var meanY = 0.0
    private var varianceX = 0.0
    private var covariance = 0.0

    mutating func add(_ x: Double, _ y: Double, memory: Double) {
        weight = memory * weight + 1
        let (fromX, fromY) = (x - meanX, y - meanY)
        meanX += fromX / weight
        meanY += fromY / weight
        varianceX = memory * varianceX + fromX * (x - meanX)
        covariance = memory * covariance + fromX * (y - meanY)
    }

    /// Variance, relative to the square of the mean, below which the points tell no slope.
    private static let leastVariance = 0.005

    /// Whether the points lie far enough from each other.
    var hasSlope: Bool { varianceX > Self.leastVariance * meanX * meanX * weight }

    /// The line's value, 0 or more. A line never falls.
    func value(at x: Double) -> Double {
        let slope = hasSlope ? max(covariance / varianceX, 0) : 0
        return max(meanY + slope * (x - meanX), 0)
    }
}
