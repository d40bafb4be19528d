import ArgumentParser
import CacheBenchKit
import PanTraces

private let usual = ReplayOptions.Textures(slots: 1)

/// Texture slots of a renderer, under the virtual clock.
struct TextureArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Draw from this many texture slots, 1 to 65536, under the virtual clock. (default: none)",
            valueName: "slots"
        ),
        transform: { try parsed(whole($0, 1...65_536), "a whole number from 1 to 65536") }
    )
    var textureSlots: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum bytes of a frame's uploads to --texture-slots.\(standard(MemoryLimit.bytes(usual.uploadBytes)))",
            valueName: "bytes"
        ),
        transform: { try parsed(QuantityText.bytes($0), "bytes with a unit (4MB, 16MiB)") }
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
