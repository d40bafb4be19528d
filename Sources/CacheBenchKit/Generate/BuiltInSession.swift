package import PanTraces
import TileCache

/// A map session that needs no file. Two minutes over the demo world, with recorded distributions.
///
/// It is the trace of ``GesturePreset/map`` in a view of the demo's size. Each seed gives another session, the same on
/// every machine.
package struct BuiltInSession: Sendable {
    /// Width and height of the world in world pixels; it wraps horizontally.
    package static let worldSize = 131_072
    package static let viewport = PanTraceHeader.Size(width: 1280, height: 720)
    static let duration: Int64 = 120_000_000_000

    /// Samples of the view, sixty times a second while it moved.
    package let samples: [PanTraceSample]

    package init(seed: UInt64 = 1) {
        var options = TraceGenerator.Options(preset: .map)
        options.seed = seed
        options.duration = Self.duration
        options.viewport = Self.viewport
        do {
            var generator = try TraceGenerator(options)
            samples = Array(AnyIterator { generator.nextSample() })
        } catch {
            preconditionFailure("the built-in session has a size and a duration that the generator takes: \(error)")
        }
    }

    package var stream: PanSampleList { PanSampleList(samples) }

    package var header: PanTraceHeader {
        let world = Double(Self.worldSize)
        return PanTraceHeader(
            viewport: Self.viewport,
            world: PanTraceHeader.Size(width: world, height: world),
            wrapsX: true,
            otherEntries: [.init(key: "kind", value: "built-in map session")]
        )
    }
}
