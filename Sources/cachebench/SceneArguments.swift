import ArgumentParser
import CacheBenchKit
import TileCache

/// The flags that say what is looked at, the same for every command that drives a view.
struct SceneArguments: ParsableArguments {
    @Option(
        help: "Pixels a side of a tile; what the trace says unless given, or 256.",
        transform: { try parsed(whole($0, 1...65_536), "a whole number from 1 to 65536") }
    )
    var tileSize: Int?

    @Option(
        help:
            "How a pixel is laid out: rgba8, bgra8, gray8, gray16, rgba16, float32. (default: \(ReplayOptions().pixelFormat.name))",
        transform: { try parsed(PixelFormat(name: $0), "rgba8, bgra8, gray8, gray16, rgba16 or float32") }
    )
    var pixelFormat = ReplayOptions().pixelFormat

    @Option(
        help: ArgumentHelp(
            "The view in screen pixels. (default: the trace's; for zoomout 1280x720)",
            valueName: "WxH"
        ),
        transform: {
            try parsed(
                PanTraceHeader.Size(viewport: $0),
                "WIDTHxHEIGHT in screen pixels, larger than 0, at most a million"
            )
        }
    )
    var viewport: PanTraceHeader.Size?

    @Option(
        help: ArgumentHelp(
            "The world in world pixels. (default: the trace's; for zoomout one that the farthest view fits in)",
            valueName: "WxH"
        ),
        transform: { try parsed(PanTraceHeader.Size(world: $0), "WIDTHxHEIGHT in world pixels, 1 to 2^40") }
    )
    var world: PanTraceHeader.Size?
}
