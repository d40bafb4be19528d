import CTileZlib

@testable import TileSources

/// A PMTiles archive that a test writes.
struct MadePMTiles {
    var entries: [PMTilesDirectory.Entry] = []
    var tiles: [UInt8] = []
    var zooms = 0...0
    var bounds: [Double] = [-180, -85, 180, 85]
    var center: [Double] = [0, 0, 0]
    var metadata = "{\"name\":\"made\"}"
    /// 1 is none, 2 is gzip.
    var internalCompression: UInt8 = 2
    var tileCompression: UInt8 = 1
    var type: UInt8 = 2
    var isClustered = true
    /// Entries of each leaf directory; 0 for none.
    var leafSize = 0
    /// Leaf directories in sequence on the way to a tile.
    var depth = 1
    private var offsets: [[UInt8]: UInt64] = [:]

    init() {}

    /// Adds a tile; equal bytes are stored once, and equal neighbours share an entry.
    mutating func add(_ id: UInt64, _ bytes: [UInt8]) {
        let stored = tileCompression == 2 ? Self.gzip(bytes) : bytes
        let offset = offsets[stored] ?? UInt64(tiles.count)
        if offsets.updateValue(offset, forKey: stored) == nil { tiles += stored }
        if let last = entries.last, last.offset == offset, last.id + UInt64(last.run) == id {
            entries[entries.count - 1].run += 1
        } else {
            entries.append(.init(id: id, offset: offset, length: UInt32(stored.count), run: 1))
        }
    }

    /// The whole file.
    func bytes() -> [UInt8] {
        var leaves: [UInt8] = []
        var root = entries.sorted { $0.id < $1.id }
        if leafSize > 0 {
            for _ in 0..<depth {
                var parents: [PMTilesDirectory.Entry] = []
                for start in stride(from: 0, to: root.count, by: leafSize) {
                    let part = Array(root[start..<min(start + leafSize, root.count)])
                    let bytes = directory(part)
                    parents.append(
                        .init(id: part[0].id, offset: UInt64(leaves.count), length: UInt32(bytes.count), run: 0)
                    )
                    leaves += bytes
                }
                root = parents
            }
        }
        let text = internalCompression == 2 ? Self.gzip(Array(metadata.utf8)) : Array(metadata.utf8)
        return Self.file(root: directory(root), metadata: text, leaves: leaves, tiles: tiles) { header in
            header[96] = isClustered ? 1 : 0
            (header[97], header[98], header[99]) = (internalCompression, tileCompression, type)
            (header[100], header[101]) = (UInt8(zooms.lowerBound), UInt8(zooms.upperBound))
            header[118] = UInt8(center[0])
            let degrees = zip([102, 106, 110, 114, 119, 123], bounds + center[1...])
            for (position, value) in degrees {
                let number = UInt32(bitPattern: Int32(value * 10_000_000))
                for byte in 0..<4 { header[position + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte)) }
            }
        }
    }

    /// Puts a header before the parts of a file.
    static func file(
        root: [UInt8],
        metadata: [UInt8] = [],
        leaves: [UInt8] = [],
        tiles: [UInt8] = [],
        _ change: (inout [UInt8]) -> Void = { _ in }
    ) -> [UInt8] {
        var header = Array("PMTiles".utf8) + [3] + [UInt8](repeating: 0, count: 119)
        (header[97], header[98], header[99]) = (1, 1, 2)
        var offset = header.count
        for (index, part) in [root, metadata, leaves, tiles].enumerated() {
            put(UInt64(offset), 8 + 16 * index, &header)
            put(UInt64(part.count), 16 + 16 * index, &header)
            offset += part.count
        }
        change(&header)
        return header + root + metadata + leaves + tiles
    }

    /// Writes a number of 8 bytes, the lowest first.
    static func put(_ number: UInt64, _ position: Int, _ bytes: inout [UInt8]) {
        for byte in 0..<8 { bytes[position + byte] = UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)) }
    }

    private func directory(_ entries: [PMTilesDirectory.Entry]) -> [UInt8] {
        let bytes = Self.directory(entries)
        return internalCompression == 2 ? Self.gzip(bytes) : bytes
    }

    /// A directory without compression.
    static func directory(_ entries: [PMTilesDirectory.Entry]) -> [UInt8] {
        var bytes = varint(UInt64(entries.count))
        var last: UInt64 = 0
        for entry in entries {
            bytes += varint(entry.id &- last)
            last = entry.id
        }
        for entry in entries { bytes += varint(UInt64(entry.run)) }
        for entry in entries { bytes += varint(UInt64(entry.length)) }
        var end: UInt64?
        for entry in entries {
            bytes += varint(entry.offset == end ? 0 : entry.offset &+ 1)
            end = entry.offset &+ UInt64(entry.length)
        }
        return bytes
    }

    static func varint(_ number: UInt64) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), number)
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(&stream, 9, Z_DEFLATED, 31, 9, 0, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 100)
        let (room, count) = (output.count, input.count)
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(room))
                deflate(&stream, Z_FINISH)
                return Array(output[..<(room - Int(stream.avail_out))])
            }
        }
    }
}
