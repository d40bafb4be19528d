import TileCache

/// Writes the keys of a trace for cache simulators: every needed tile of every frame, row by row, one to a line as
/// `level/column/row`.
package enum KeyExport {
    /// Bytes that are collected before they are written.
    private static let blockBytes = 1 << 16

    /// Reads a trace from its beginning and writes its keys in blocks.
    ///
    /// - Parameters:
    ///   - input: a trace of which nothing has been read.
    ///   - options: frame rate, duration and level selection count.
    ///   - write: takes the next bytes.
    /// - Returns: how many keys there were.
    /// - Throws: `PanTraceError`, `ReplayError`, `TileCacheError` or what `write` throws.
    @discardableResult
    package static func run(
        _ input: ReplayInput,
        options: ReplayOptions,
        write: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        var needed = try NeededTiles(input, options: options)
        var block: [UInt8] = []
        var frame: [UInt8] = []
        var count = 0
        while try needed.advance() {
            if !needed.isSame {
                frame.removeAll(keepingCapacity: true)
                for tile in needed.tiles { frame += "\(tile)\n".utf8 }
            }
            count += needed.tiles.count
            block += frame
            if block.count >= blockBytes {
                try block.withUnsafeBytes { try write($0) }
                block.removeAll(keepingCapacity: true)
            }
        }
        try block.withUnsafeBytes { try write($0) }
        return count
    }
}
