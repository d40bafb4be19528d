import TileCache

/// Writes the keys of a trace for cache simulators. Needed tiles as `level/column/row`, one to a line.
///
/// Every needed tile of every frame is written, row by row.
package enum KeyExport {
    private static let blockBytes = 1 << 16

    /// Reads a trace from its beginning and writes its keys in blocks; returns their number.
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
