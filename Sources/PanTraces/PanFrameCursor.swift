public import TileCache

/// One frame of a replay: its number, time and viewport.
public struct PanFrame: Hashable, Sendable {
    /// Number of the frame, from 0.
    public var index: Int64
    /// Nanoseconds since the first sample.
    public var time: Int64
    /// Viewport of the frame.
    public var viewport: TileViewport

    /// Creates a frame.
    public init(index: Int64, time: Int64, viewport: TileViewport) {
        self.index = index
        self.time = time
        self.viewport = viewport
    }
}

/// Converts the samples of a trace to frames, holding two samples at a time.
///
/// Frame n is at ``PanFrameRate/time(ofFrame:)``. The last frame is at most half a second after the last sample, so
/// that loads of the last movement can still be drawn.
public struct PanFrameCursor<Samples: PanSampleStream> {
    /// Time of frames after the last sample, in nanoseconds.
    @inlinable public static var tail: Int64 { 500_000_000 }

    @usableFromInline var samples: Samples
    @usableFromInline let size: PanTraceHeader.Size
    @usableFromInline let rate: PanFrameRate
    @usableFromInline let duration: Int64
    @usableFromInline var current: PanTraceSample?
    @usableFromInline var ahead: PanTraceSample?
    @usableFromInline var way: PanInterpolation?
    @usableFromInline var index: Int64 = 0

    /// Creates a cursor before the first frame and reads the first samples.
    ///
    /// - Parameters:
    ///   - samples: The samples, none of them read yet.
    ///   - viewport: Size of the view in screen pixels.
    ///   - rate: Frames a second. Default: 60.
    ///   - duration: Time after which frames are left out, in nanoseconds; `nil` for the whole trace.
    @inlinable
    public init(
        _ samples: Samples,
        viewport: PanTraceHeader.Size,
        rate: PanFrameRate = .sixty,
        duration: Int64? = nil
    ) {
        self.samples = samples
        self.size = viewport
        self.rate = rate
        self.duration = duration ?? .max
    }

    /// Returns the next frame; `nil` after the last one.
    ///
    /// - Throws: Errors of the stream, no earlier than at the frame that needs the sample.
    @inlinable
    public mutating func next() throws(PanTraceError) -> PanFrame? {
        guard let time = rate.time(ofFrame: index), time <= duration else { return nil }
        if current == nil {
            current = try samples.nextSample()
            ahead = try samples.nextSample()
        }
        while let next = ahead, next.time <= time {
            current = next
            ahead = try samples.nextSample()
            way = nil
        }
        guard var sample = current else { return nil }
        if let ahead {
            let way = self.way ?? PanInterpolation(from: sample, to: ahead, viewport: size)
            self.way = way
            sample = way.sample(at: time)
        } else if time - sample.time > Self.tail {
            return nil
        }
        defer { index += 1 }
        return PanFrame(index: index, time: time, viewport: sample.viewport(width: size.width, height: size.height))
    }
}

/// A stream of the samples of a trace in memory.
public struct PanSampleList: PanSampleStream, Sendable {
    private var rest: ArraySlice<PanTraceSample>

    /// Creates a stream.
    ///
    /// - Parameter samples: Samples with times that increase strictly from 0; not checked.
    public init(_ samples: [PanTraceSample]) {
        rest = samples[...]
    }

    /// Time of the last sample; `nil` if none is left.
    package var lastTime: Int64? { rest.last?.time }

    /// Returns the next sample; `nil` after the last one. Never throws.
    public mutating func nextSample() throws(PanTraceError) -> PanTraceSample? {
        rest.popFirst()
    }
}
