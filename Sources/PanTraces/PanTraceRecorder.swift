public import TileCache

/// Records the viewports of a view in the pan-trace format, for replays and measurements.
///
/// Any view or renderer may use it, from any thread. A recorder that keeps its samples in memory writes the column
/// `rotation` only if a sample was rotated. A recorder that writes as it goes must name its columns first, and always
/// has the column.
///
/// A trace has one viewport size. If a view is resized while it is recorded, recording continues with the header's
/// size, and the samples are counted in ``Counts/resized``.
public final class PanTraceRecorder: ViewportRecorder {
    /// Counts of the viewports that a recorder received.
    public struct Counts: Hashable, Sendable {
        /// Samples in the trace.
        public var recorded = 0
        /// Viewports left out because they were not later than the sample before.
        public var outOfOrder = 0
        /// Viewports left out because they cannot be drawn. A number is not finite, or a size or scale is 0 or less.
        public var undrawable = 0
        /// Samples in the trace whose view size differs from the header's.
        public var resized = 0

        /// Creates counts of 0.
        package init() {}
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

    /// Creates a recorder that keeps its samples in memory, 40 bytes each. ``text`` formats the trace.
    ///
    /// - Parameter header: Header of the trace; a missing viewport is taken from the first one recorded.
    public init(header: PanTraceHeader = PanTraceHeader()) {
        state = Lock(State(header: header))
        sink = nil
    }

    /// Creates a recorder that writes each sample as it comes and keeps none.
    ///
    /// - Parameters:
    ///   - header: Header of the trace; a missing viewport is taken from the first one recorded.
    ///   - sink: Receives the text of the trace in pieces of whole lines, the header with the first sample. Called on
    ///     the recording thread, one call at a time, under the recorder's lock, since lines have an order: it must not
    ///     call the recorder.
    public init(header: PanTraceHeader = PanTraceHeader(), sink: @escaping @Sendable (String) -> Void) {
        state = Lock(State(header: header))
        self.sink = sink
    }

    /// Records a viewport.
    ///
    /// - Parameters:
    ///   - viewport: The viewport of the view.
    ///   - nanoseconds: Time on any clock that does not go back; the first sample becomes 0.
    /// - Returns: Whether it became a sample; if not, ``counts`` has the reason.
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

    /// Counts of the viewports so far.
    public var counts: Counts { state.withLock { $0.counts } }

    /// The header, with the viewport of the first sample if none was given.
    public var header: PanTraceHeader { state.withLock { $0.header } }

    /// The samples so far; empty if the recorder writes to a sink.
    public var samples: [PanTraceSample] { state.withLock { $0.samples } }

    /// The trace so far as text. Only a header, which readers refuse, if the recorder writes to a sink.
    public var text: String {
        let (header, samples) = state.withLock { ($0.header, $0.samples) }
        let includesRotation = samples.contains { $0.rotation != 0 }
        return samples.reduce(into: PanTraceFormat.headerText(header, includesRotation: includesRotation)) {
            $0 += PanTraceFormat.line($1, includesRotation: includesRotation)
        }
    }

    /// Time since the first sample. `nil` if it is not later than the last one, or overflows.
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
