import ArgumentParser
import CacheBenchKit
import TileCache

/// View and world of a replay, which override the trace's.
struct SceneArguments: ParsableArguments {
    @Option(help: "Pixels a side of a tile. (default: the trace's, or 256)", transform: tileSide)
    var tileSize: Int?

    @Option(help: TilePixelFormat.help, transform: pixelLayout)
    var pixelFormat = ReplayOptions().pixelFormat

    @Option(
        help: ArgumentHelp("The view in screen pixels. (default: the trace's)", valueName: "WxH"),
        transform: viewportSize
    )
    var viewport: PanTraceHeader.Size?

    @Option(
        help: ArgumentHelp("The world in world pixels. (default: the trace's)", valueName: "WxH"),
        transform: worldSize
    )
    var world: PanTraceHeader.Size?
}

extension TilePixelFormat {
    static var help: ArgumentHelp {
        """
        Pixel format: rgba8, bgra8, gray8, gray16, rgba16, float32. \
        (default: \(ReplayOptions().pixelFormat.name))
        """
    }
}
