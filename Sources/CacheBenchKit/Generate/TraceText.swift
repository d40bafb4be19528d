import PanTraces
import TileCache

/// A generated trace as the text of its file, piece by piece.
package struct TraceText {
    /// Writing each line by itself would take longer than making it.
    private static let pieceBytes = 1 << 16

    private var generator: TraceGenerator
    private var isBegun = false
    /// The time of the last line so far in nanoseconds; `nil` before the first one.
    package private(set) var lastTime: Int64?

    /// Begins a trace.
    ///
    /// - Throws: ``ReplayError`` as ``TraceGenerator/init(_:)``.
    package init(_ options: TraceGenerator.Options) throws(ReplayError) {
        generator = try TraceGenerator(options)
    }

    /// The next lines, some 64 KiB of them; `nil` after the last one.
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
