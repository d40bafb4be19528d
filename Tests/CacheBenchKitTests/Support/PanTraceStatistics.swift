import PanTraces
import TileCache

/// Strokes, pauses, speeds and zooms of a trace, defined as for the recorded traces.
///
/// - A stroke is motion at one scale between pauses of at least 150 ms whose ends are at least 30 px apart on screen.
/// - Speeds are those of the centre between points of a 50 ms grid, if it moved and the scale stayed; it moves straight
///   between samples.
/// - A stroke reverses if it turns by more than 120 degrees from the one before, and continues if by less than 60.
/// - A zoom is a run of samples whose scales differ, without a pause of 150 ms.
struct PanTraceStatistics: Sendable {
    /// One stroke, in screen pixels and nanoseconds.
    struct Stroke: Hashable, Sendable {
        /// Time of its first motion.
        var start: Int64
        /// Time of its last motion.
        var end: Int64
        /// Distance to the right from end to end, in screen pixels.
        var x: Double
        /// Distance downwards from end to end, in screen pixels.
        var y: Double

        /// Distance from end to end, in screen pixels.
        var length: Double { (x * x + y * y).squareRoot() }
        /// Duration in seconds.
        var seconds: Double { Double(end - start) / 1e9 }
    }

    /// A shorter pause, in nanoseconds, does not end a stroke.
    static let shortestPause: Int64 = 150_000_000
    /// A shorter stroke, in screen pixels, does not count.
    static let shortestStroke = 30.0
    private static let grid: Int64 = 50_000_000

    /// Counted strokes, in order.
    private(set) var strokes: [Stroke] = []
    /// Speeds while moving, in screen pixels per second.
    private(set) var speeds: [Double] = []
    /// Sizes of zooms in octaves, larger than 0 for zooming in.
    private(set) var zooms: [Double] = []
    /// Counts of strokes: reversed, in the same direction, all.
    private(set) var turns = (reversed: 0, same: 0, all: 0)
    private var cells = 0
    private var nanoseconds: Int64 = 0

    private var stroke: Stroke?
    private var zoom: (end: Int64, octaves: Double)?
    private var gridPoint: (sample: PanTraceSample, index: Int64)?

    /// Creates statistics without samples.
    init() {}

    /// Adds the figures of a trace.
    ///
    /// - Throws: Errors of the stream.
    mutating func add(_ stream: inout some PanSampleStream) throws(PanTraceError) {
        var last: PanTraceSample?
        while let sample = try stream.nextSample() {
            if let last { step(last, sample) }
            last = sample
        }
        endStroke()
        endZoom()
        gridPoint = nil
        previous = nil
        nanoseconds += last?.time ?? 0
    }

    private var previous: Stroke?

    private mutating func step(_ a: PanTraceSample, _ b: PanTraceSample) {
        measureSpeeds(a, b)
        if a.scale != b.scale {
            if let zoom, a.time - zoom.end >= Self.shortestPause { endZoom() }
            zoom = (b.time, (zoom?.octaves ?? 0) + PortableMath.log2(b.scale / a.scale))
            return
        }
        guard a.center != b.center else { return }
        if let stroke, a.time - stroke.end >= Self.shortestPause { endStroke() }
        var current = stroke ?? Stroke(start: a.time, end: a.time, x: 0, y: 0)
        current.end = b.time
        current.x += (b.center.x - a.center.x) * a.scale
        current.y += (b.center.y - a.center.y) * a.scale
        stroke = current
    }

    private mutating func endStroke() {
        defer { stroke = nil }
        guard let stroke, stroke.length >= Self.shortestStroke else { return }
        if let previous {
            let cosine = (previous.x * stroke.x + previous.y * stroke.y) / (previous.length * stroke.length)
            turns.all += 1
            if cosine < -0.5 { turns.reversed += 1 }
            if cosine > 0.5 { turns.same += 1 }
        }
        previous = stroke
        strokes.append(stroke)
    }

    private mutating func endZoom() {
        if let zoom { zooms.append(zoom.octaves) }
        zoom = nil
    }

    private mutating func measureSpeeds(_ a: PanTraceSample, _ b: PanTraceSample) {
        if gridPoint == nil { gridPoint = (a, a.time / Self.grid) }
        while let point = gridPoint, (point.index + 1) * Self.grid <= b.time {
            let time = (point.index + 1) * Self.grid
            let part = Double(time - a.time) / Double(b.time - a.time)
            var sample = time == b.time ? b : a
            sample.center.x = a.center.x + (b.center.x - a.center.x) * part
            sample.center.y = a.center.y + (b.center.y - a.center.y) * part
            let x = (sample.center.x - point.sample.center.x) * sample.scale
            let y = (sample.center.y - point.sample.center.y) * sample.scale
            cells += 1
            if sample.scale == point.sample.scale, x != 0 || y != 0 {
                speeds.append((x * x + y * y).squareRoot() * (1e9 / Double(Self.grid)))
            }
            gridPoint = (sample, point.index + 1)
        }
    }

    // MARK: Figures

    /// Fraction of the time with movement; `nil` if there is no time.
    var movingShare: Double? { cells == 0 ? nil : Double(speeds.count) / Double(cells) }
    /// Fraction of strokes that reverse; `nil` if there are fewer than two.
    var reversedShare: Double? { turns.all == 0 ? nil : Double(turns.reversed) / Double(turns.all) }
    /// Fraction of strokes that continue; `nil` if there are fewer than two.
    var sameShare: Double? { turns.all == 0 ? nil : Double(turns.same) / Double(turns.all) }
    /// Zooms per minute; `nil` if there is no time.
    var zoomsPerMinute: Double? { nanoseconds == 0 ? nil : Double(zooms.count) / (Double(nanoseconds) / 6e10) }
    /// Pauses between strokes, in seconds.
    var pauses: [Double] { zip(strokes, strokes.dropFirst()).map { Double($1.start - $0.end) / 1e9 } }

    /// Value below which a fraction of some values lies; `nil` if there are none.
    static func percentile(_ share: Double, of values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
}
