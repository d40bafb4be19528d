public import TileCache

/// One frame of a replay: its number, its time and what the view looks at.
public struct PanFrame: Hashable, Sendable {
    /// The number of the frame, from 0.
    public var index: Int64
    /// The time in nanoseconds since the first sample.
    public var time: Int64
    /// What the view looks at.
    public var viewport: TileViewport

    /// Makes a frame.
    public init(index: Int64, time: Int64, viewport: TileViewport) {
        self.index = index
        self.time = time
        self.viewport = viewport
    }
}

/// Turns the samples of a trace into frames, one after the other, holding two samples at a time.
///
/// Frame n is at ``PanFrameRate/time(ofFrame:)``. The last frame is at most half a second past the last sample, so that
/// loads which the last movement asked for can still be drawn.
public struct PanFrameCursor<Samples: PanSampleStream> {
    /// How long frames go on after the last sample, in nanoseconds.
    public static var tail: Int64 { 500_000_000 }

    private var samples: Samples
    private let size: PanTraceHeader.Size
    private let rate: PanFrameRate
    private let duration: Int64
    private var current: PanTraceSample?
    private var ahead: PanTraceSample?
    private var way: PanInterpolation?
    private var index: Int64 = 0

    /// Starts before the first frame; the first samples are read with it.
    ///
    /// - Parameters:
    ///   - samples: where the samples come from, none of them read yet.
    ///   - viewport: the size of the view in screen pixels.
    ///   - rate: frames a second; 60 unless given.
    ///   - duration: frames later than this many nanoseconds are left out; `nil` for the whole trace.
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

    /// The next frame, `nil` after the last one.
    ///
    /// - Throws: what the stream throws, no earlier than at the frame that needs the sample.
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

/// The samples of a trace that is in memory, as a stream.
public struct PanSampleList: PanSampleStream, Sendable {
    private var rest: ArraySlice<PanTraceSample>

    /// Makes a stream.
    ///
    /// - Parameter samples: with times that increase strictly from 0; nothing is checked.
    public init(_ samples: [PanTraceSample]) {
        rest = samples[...]
    }

    /// The time of the last sample; `nil` if none is left.
    package var lastTime: Int64? { rest.last?.time }

    /// The next sample, `nil` after the last one; never throws.
    public mutating func nextSample() throws(PanTraceError) -> PanTraceSample? {
        rest.popFirst()
    }
}
