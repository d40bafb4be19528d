import ArgumentParser
import CacheBenchKit
import TileCache

/// Format of a tile's pixels.
struct PixelArguments: ParsableArguments {
    @Option(
        "Pixel format: rgba8, bgra8, gray8, gray16, rgba16, float32.",
        OptionValue("rgba8, bgra8, gray8, gray16, rgba16 or float32") { TilePixelFormat(name: $0) },
        default: ReplayOptions().pixelFormat.name
    )
    var pixelFormat = ReplayOptions().pixelFormat
}
