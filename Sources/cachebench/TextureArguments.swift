import ArgumentParser
import CacheBenchKit
import PanTraces

private let usual = ReplayOptions.Textures(slots: 1)

/// Texture slots of a renderer, under the virtual clock.
struct TextureArguments: ParsableArguments {
    @Option(
        "Draw from this many texture slots, 1 to 65536, under the virtual clock.",
        .whole(1...65_536),
        default: "none",
        as: "slots"
    )
    var textureSlots: Int?

    @Option(
        "Maximum bytes of a frame's uploads to --texture-slots.",
        .bytes("bytes with a unit (4MB, 16MiB)"),
        default: MemoryLimit.bytes(usual.uploadBytes).description,
        as: "bytes"
    )
    var uploadBudget: Int?

    var textures: ReplayOptions.Textures? {
        textureSlots.map { .init(slots: $0, uploadBytes: uploadBudget ?? usual.uploadBytes) }
    }

    func validate() throws {
        if uploadBudget != nil, textureSlots == nil {
            throw ValidationError("--upload-budget is the budget of --texture-slots")
        }
    }
}
