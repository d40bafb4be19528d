public import PanTraces
public import TileCache

/// Plays a pan trace: the viewports of its replay at 60 frames a second.
public struct Playback {
    /// Size of the recorded view, in screen pixels.
    public let size: PanTraceHeader.Size
    /// Whether the view is rotated anywhere.
    public private(set) var isTurned = false
    /// Last viewport of the trace.
    public private(set) var last: TileViewport?
    private var frames: PanFrameCursor<PanSampleList>

    /// Reads a trace.
    ///
    /// - Parameters:
    ///   - reader: Reader of the trace.
    ///   - pyramid: Pyramid of the world that is shown.
    /// - Throws: `PanTraceError` if the trace cannot be read; ``ViewerError`` if its world differs or its view size is
    ///   missing.
    public init(_ reader: PanTraceReader, pyramid: TilePyramid) throws {
        var samples: [PanTraceSample] = []
        while let sample = try reader.nextSample() {
            isTurned = isTurned || sample.rotation != 0
            samples.append(sample)
        }
        guard let size = reader.header.viewport else {
            throw ViewerError("\(reader.name): a line '# viewport: WIDTHxHEIGHT' was expected in the header")
        }
        if let world = reader.header.world, (world.width, world.height) != (pyramid.worldWidth, pyramid.worldHeight) {
            throw ViewerError(
                "\(reader.name): a world of \(pyramid.worldWidth) x \(pyramid.worldHeight) was expected, not "
                    + "\(world.width) x \(world.height)"
            )
        }
        self.size = size
        frames = PanFrameCursor(PanSampleList(samples), viewport: size)
    }

    /// Size of a window that shows the view pixel by pixel.
    ///
    /// - Throws: ``ViewerError`` if no window can be that large.
    public func windowSize() throws(ViewerError) -> PanTraceHeader.Size {
        guard max(size.width, size.height) <= Self.largestSide else {
            throw ViewerError(
                "--play: a view of at most \(Int(Self.largestSide)) pixels a side was expected without --compare, not "
                    + "\(Int(size.width))x\(Int(size.height))"
            )
        }
        return size
    }

    private static let largestSide = 16_384.0

    /// Viewport of the next frame; `nil` after the last.
    public mutating func next() -> TileViewport? {
        guard let frame = try? frames.next() else { return nil }
        last = frame.viewport
        return last
    }
}
