public import PanTraces
public import TileCache

/// A pan trace as something to watch: the viewports that a replay of it at 60 frames a second has, one after the other.
public struct Playback {
    /// The size of the view that was recorded, in screen pixels.
    public let size: PanTraceHeader.Size
    /// Where the view ended.
    public private(set) var last: TileViewport?
    private var frames: PanFrameCursor<PanSampleList>

    /// Reads a trace.
    ///
    /// - Parameters:
    ///   - reader: of the trace.
    ///   - pyramid: of the world that is shown.
    /// - Throws: `PanTraceError` where the trace cannot be read, ``ViewerError`` where it is of another world, says no
    ///   size of its view, or was rotated.
    public init(_ reader: PanTraceReader, pyramid: TilePyramid) throws {
        var samples: [PanTraceSample] = []
        while let sample = try reader.nextSample() {
            guard sample.rotation == 0 else {
                throw ViewerError("\(reader.name): the view was rotated, which the viewer cannot show")
            }
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

    /// The viewport of the next frame; `nil` after the last.
    public mutating func next() -> TileViewport? {
        guard let frame = try? frames.next() else { return nil }
        last = frame.viewport
        return last
    }
}
