import Synchronization

/// Writes down where a view looked, in the pan-trace format, so that the session can be replayed and measured.
///
/// Any view or renderer may feed it, from any thread. A recorder that keeps its samples in memory writes the column
/// `rotation` only where a sample was rotated. One that writes as it goes has to name its columns before it knows, and
/// cannot take a line back: it always has the column.
///
/// A trace has one viewport size. A view that is resized while it is recorded goes on being recorded with the size
/// that the header has, and the samples are counted in ``Counts/resized``.
public final class PanTraceRecorder: Sendable {
    /// What became of the viewports that a recorder was given.
    public struct Counts: Hashable, Sendable {
        /// Samples in the trace.
        public var recorded = 0
        /// Viewports left out because they came at the time of the sample before them, or earlier.
        public var outOfOrder = 0
        /// Viewports left out because they cannot be drawn: a number that is not finite, a size or scale of 0 or less.
        public var undrawable = 0
        /// Samples in the trace whose view had another size than the header says.
        public var resized = 0

        /// Makes counts of nothing.
        public init() {}
    }

    private struct State {
        var header: PanTraceHeader
        var counts = Counts()
        var firstTime: Int64?
        var lastTime: Int64 = 0
        var samples: [PanTraceSample] = []
    }

    private let state: Lock<State>
    private let sink: (@Sendable (String) -> Void)?

    /// Makes a recorder that keeps its samples in memory, 40 bytes each; ``text`` writes the trace.
    ///
    /// - Parameter header: what the trace says about itself; a missing viewport is taken from the first one recorded.
    public init(header: PanTraceHeader = PanTraceHeader()) {
        state = Lock(State(header: header))
        sink = nil
    }

    /// Makes a recorder that writes each sample as it comes and keeps none.
    ///
    /// - Parameters:
    ///   - header: what the trace says about itself; a missing viewport is taken from the first one recorded.
    ///   - sink: takes the text of the trace piece by piece, whole lines each time, the header with the first sample.
    ///     It is called on the thread that records, one call at a time, under the recorder's lock, since lines
    ///     have an order: it must not call the recorder.
    public init(header: PanTraceHeader = PanTraceHeader(), sink: @escaping @Sendable (String) -> Void) {
        state = Lock(State(header: header))
        self.sink = sink
    }

    /// Records where a view looks.
    ///
    /// - Parameters:
    ///   - viewport: the viewport as the view has it.
    ///   - nanoseconds: when, on any clock that does not go back; the first sample becomes 0.
    /// - Returns: whether it became a sample; where not, ``counts`` says why.
    @discardableResult
    public func record(_ viewport: TileViewport, at nanoseconds: Int64) -> Bool {
        state.withLock { state in
            guard viewport.isDrawable else {
                state.counts.undrawable += 1
                return false
            }
            guard let time = Self.time(of: nanoseconds, in: &state) else {
                state.counts.outOfOrder += 1
                return false
            }
            let size = PanTraceHeader.Size(width: viewport.width, height: viewport.height)
            if state.header.viewport == nil { state.header.viewport = size }
            if state.header.viewport != size { state.counts.resized += 1 }
            let sample = PanTraceSample(
                time: time,
                center: viewport.center,
                scale: viewport.scale,
                rotation: viewport.rotation
            )
            if let sink {
                let header =
                    state.counts.recorded == 0 ? PanTraceFormat.headerText(state.header, includesRotation: true) : ""
                sink(header + PanTraceFormat.line(sample, includesRotation: true))
            } else {
                state.samples.append(sample)
            }
            state.counts.recorded += 1
            return true
        }
    }

    /// What became of the viewports so far.
    public var counts: Counts { state.withLock { $0.counts } }

    /// The header as it stands: with the viewport of the first sample where none was given.
    public var header: PanTraceHeader { state.withLock { $0.header } }

    /// The samples so far; empty in a recorder that writes to a sink.
    public var samples: [PanTraceSample] { state.withLock { $0.samples } }

    /// The trace so far as text; a header without samples, which readers refuse, where nothing was kept.
    public var text: String {
        let (header, samples) = state.withLock { ($0.header, $0.samples) }
        let includesRotation = samples.contains { $0.rotation != 0 }
        return samples.reduce(into: PanTraceFormat.headerText(header, includesRotation: includesRotation)) {
            $0 += PanTraceFormat.line($1, includesRotation: includesRotation)
        }
    }

    /// The time since the first sample, or `nil` where it is not later than the last one (or the clock ran over).
    private static func time(of nanoseconds: Int64, in state: inout State) -> Int64? {
        guard let first = state.firstTime else {
            state.firstTime = nanoseconds
            return 0
        }
        let (time, overflow) = nanoseconds.subtractingReportingOverflow(first)
        guard !overflow, time > state.lastTime else { return nil }
        state.lastTime = time
        return time
    }
}
