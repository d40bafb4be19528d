import PanTraces
import TileCache

/// Text of a generated trace, in pieces.
package struct TraceText {
    /// Pieces, because writing single lines would take longer than generating them.
    private static let pieceBytes = 1 << 16

    private var generator: TraceGenerator
    private var isBegun = false
    /// Time of the last line so far in nanoseconds; `nil` before the first one.
    package private(set) var lastTime: Int64?

    package init(_ options: TraceGenerator.Options) throws(ReplayError) {
        generator = try TraceGenerator(options)
    }

    /// Returns some 64 KiB of lines; `nil` after the last one.
    package mutating func next() -> String? {
        var text = isBegun ? "" : PanTraceFormat.headerText(generator.header, includesRotation: false)
        isBegun = true
        while text.utf8.count < Self.pieceBytes, let sample = generator.nextSample() {
            text += PanTraceFormat.line(sample, includesRotation: false)
            lastTime = sample.time
        }
        return text.isEmpty ? nil : text
    }
}
