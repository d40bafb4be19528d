import CTileZlib

/// Decompresses gzip (RFC 1952) from untrusted bytes.
enum Gzip {
    /// Decompresses what begins as gzip does, whatever the headers of an answer say. Returns other bytes as they are.
    ///
    /// Neither an image nor JSON nor XML begins so.
    static func plain(
        _ bytes: [UInt8],
        limit: Int,
        hold: (Int) -> Bool = { _ in true }
    ) -> Result<[UInt8], TileLoadFailure> {
        bytes.starts(with: [0x1F, 0x8B]) ? inflate(bytes, limit: limit, hold: hold) : .success(bytes)
    }

    /// Decompresses all members that follow each other. What follows the last one is ignored, as by gzip.
    ///
    /// - Parameters:
    ///   - onlyFirst: Whether to end with the first member.
    ///   - limit: Maximum bytes of the result; not more than twice that is allocated.
    ///   - hold: Counts the bytes in memory, `bytes` and the result's, before they are; returns whether there is room.
    static func inflate(
        _ bytes: [UInt8],
        onlyFirst: Bool = false,
        limit: Int,
        hold: (Int) -> Bool = { _ in true }
    ) -> Result<[UInt8], TileLoadFailure> {
        let noRoom = TileLoadFailure(.noRoom, "the cache has no room for what comes of \(bytes.count) bytes of gzip")
        var stream = z_stream()
        // 15 bits of window, and 16 for gzip alone.
        guard inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return .failure(TileLoadFailure(.unreadable, "there is no memory for gzip"))
        }
        defer { inflateEnd(&stream) }
        let first = min(limit, max(4 * bytes.count, 1024))
        guard hold(bytes.count + first) else { return .failure(noRoom) }
        var output = [UInt8](repeating: 0, count: first)
        var written = 0
        var input = bytes
        return input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while true {
                let room = output.count - written
                let status = output.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress.map { $0 + written }
                    stream.avail_out = UInt32(clamping: room)
                    return CTileZlib.inflate(&stream, Z_NO_FLUSH)
                }
                written += room - Int(stream.avail_out)
                switch status {
                case Z_STREAM_END where !onlyFirst && Self.begins(stream): inflateReset(&stream)
                case Z_STREAM_END:
                    output.removeLast(output.count - written)
                    return .success(output)
                case Z_OK where written == output.count, Z_BUF_ERROR where written == output.count:
                    guard output.count < limit else {
                        return .failure(TileLoadFailure(.tooLarge, "more than \(limit) bytes come of gzip"))
                    }
                    let more = min(output.count, limit - output.count)
                    // The old array, too, while it is copied.
                    guard hold(bytes.count + 2 * output.count + more) else { return .failure(noRoom) }
                    output.append(contentsOf: repeatElement(0, count: more))
                case Z_OK where stream.avail_in > 0: continue
                case Z_OK, Z_BUF_ERROR: return .failure(TileLoadFailure(.truncated, "the gzip data end too early"))
                default: return .failure(TileLoadFailure(.undecodable, "gzip data were expected"))
                }
            }
        }
    }

    /// Whether another member follows.
    private static func begins(_ stream: z_stream) -> Bool {
        UnsafeBufferPointer(start: stream.next_in, count: Int(stream.avail_in)).starts(with: [0x1F, 0x8B])
    }
}
