import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// View and world of a replay, which override the trace's.
struct SceneArguments: ParsableArguments {
    @Option("Pixels a side of a tile.", .tileSide, default: "the trace's, or 256")
    var tileSize: Int?

    @OptionGroup var pixels: PixelArguments

    @Option("The view in screen pixels.", .viewport, default: "the trace's", as: "WxH")
    var viewport: PanTraceHeader.Size?

    @Option("The world in world pixels.", .world, default: "the trace's", as: "WxH")
    var world: PanTraceHeader.Size?
}

/// Format of a tile's pixels.
struct PixelArguments: ParsableArguments {
    @Option(
        "Pixel format: rgba8, bgra8, gray8, gray16, rgba16, float32.",
        OptionValue("rgba8, bgra8, gray8, gray16, rgba16 or float32") { TilePixelFormat(name: $0) },
        default: ReplayOptions().pixelFormat.name
    )
    var pixelFormat = ReplayOptions().pixelFormat
}
