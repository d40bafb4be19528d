import CTileKernels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What compressing a tile came to.
package enum CompressedTile {
    /// Eight bytes which, repeated, are the tile: nothing else need be kept (``SolidTile/fill(_:with:)``).
    case solid(UInt64)
    /// A block, in the codec's own memory until its next call.
    case block(UnsafeRawBufferPointer)
    /// Not worth compressing: the caller keeps the pixels themselves or drops the tile.
    case raw
}

/// Why a codec could not be made.
package enum TileCodecError: Error, Equatable {
    /// LZ4 takes no more than this many bytes at once, and a tile has to be larger than nothing.
    case tileSize(bytes: Int, limit: Int)
    /// The system did not give this much memory.
    case memory(bytes: Int)
}

/// Compresses tiles and back: filter and LZ4, with the scratch memory that both need.
///
/// One for each worker, never shared between threads; its ``scratchByteCount`` is part of the cache's budget.
package final class TileCodec {
    /// The largest tile that this codec takes.
    package let maximumTileBytes: Int
    /// All memory that the codec holds.
    package let scratchByteCount: Int

    /// Addresses of its own: what the allocator once had at this size it would keep for other uses, uncounted.
    private let scratch: MemoryRegion
    /// Pixels that are filtered, but not yet or no longer compressed.
    private let planes: UnsafeMutablePointer<UInt8>
    /// Where a block is built: a header and LZ4's worst case.
    private let block: UnsafeMutableRawPointer
    private let blockCapacity: Int
    private let lz4State: UnsafeMutableRawPointer

    /// Blocks larger than 15/16 of the pixels are not kept: less is saved than the pages of the compressed tier lose
    /// to rounding, and every later hit would have to pay for decompression.
    package static func keeps(blockByteCount: Int, of rawByteCount: Int) -> Bool {
        blockByteCount <= rawByteCount - rawByteCount / 16
    }

    package init(maximumTileBytes: Int) throws(TileCodecError) {
        let limit = LZ4Block.maximumInput
        guard maximumTileBytes > 0, maximumTileBytes <= limit else {
            throw .tileSize(bytes: maximumTileBytes, limit: limit)
        }
        func aligned(_ bytes: Int) -> Int { (bytes + 63) & ~63 }
        let stateBytes = aligned(LZ4Block.scratchByteCount)
        let planesBytes = aligned(maximumTileBytes)
        blockCapacity = TileBlock.headerByteCount + LZ4Block.bound(maximumTileBytes)
        scratchByteCount = stateBytes + planesBytes + aligned(blockCapacity)
        guard let scratch = MemoryRegion(byteCount: scratchByteCount) else { throw .memory(bytes: scratchByteCount) }
        self.scratch = scratch
        let memory = scratch.base
        lz4State = memory
        planes = (memory + stateBytes).assumingMemoryBound(to: UInt8.self)
        block = memory + stateBytes + planesBytes
        self.maximumTileBytes = maximumTileBytes
    }

    /// Compresses a tile whose rows are packed; what is returned is valid until the next call.
    /// A tile that is larger than this codec's, or not of the size that its format says, is left raw.
    package func compress(
        _ pixels: UnsafeRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat
    ) -> CompressedTile {
        guard pixels.count <= maximumTileBytes, pixels.count == format.byteCount(width: width, height: height) else {
            return .raw
        }
        if let pattern = SolidTile.pattern(of: pixels, format: format) { return .solid(pattern) }
        let filter = TileFilter.choose(for: pixels, width: width, height: height, format: format)
        return compress(pixels, width: width, height: height, format: format, filter: filter)
    }

    /// Compresses with a filter that was chosen elsewhere (tests and measurements).
    func compress(
        _ pixels: UnsafeRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat,
        filter: TileFilter
    ) -> CompressedTile {
        guard let base = pixels.baseAddress, pixels.count <= maximumTileBytes else { return .raw }
        var header = TileBlock(
            filter: filter,
            storedPlanes: 0,
            rawByteCount: pixels.count,
            payloadByteCount: 0,
            firstPixel: SolidTile.firstPixel(of: pixels, byteCount: format.bytesPerPixel ?? 0)
        )
        var input = base.assumingMemoryBound(to: UInt8.self)
        var inputByteCount = pixels.count
        if let kernel = filter.kernel {
            let stride = pixels.count / height
            let mask = tk_filter_forward(kernel, tk_path_automatic, input, stride, width, height, planes)
            inputByteCount = gatherPlanes(mask, planeByteCount: width * height)
            header.storedPlanes = UInt8(truncatingIfNeeded: mask)
            input = UnsafePointer(planes)
        }
        if inputByteCount > 0 {
            header.payloadByteCount = LZ4Block.compress(
                UnsafeBufferPointer(start: input, count: inputByteCount),
                into: UnsafeMutableBufferPointer(
                    start: (block + TileBlock.headerByteCount).assumingMemoryBound(to: UInt8.self),
                    count: blockCapacity - TileBlock.headerByteCount
                ),
                scratch: lz4State
            )
            guard header.payloadByteCount > 0 else { return .raw }
        }
        let byteCount = TileBlock.headerByteCount + header.payloadByteCount
        guard Self.keeps(blockByteCount: byteCount, of: pixels.count) else { return .raw }
        header.seal(block, width: width, height: height, format: format)
        return .block(UnsafeRawBufferPointer(start: block, count: byteCount))
    }

    /// Turns a block back into pixels, whose rows are packed.
    ///
    /// A damaged block throws; the pixels then hold anything.
    package func decompress(
        _ block: UnsafeRawBufferPointer,
        into pixels: UnsafeMutableRawBufferPointer,
        width: Int,
        height: Int,
        format: TilePixelFormat
    ) throws(BlockError) {
        let header = try TileBlock(checking: block, width: width, height: height, format: format)
        guard header.rawByteCount == pixels.count, let target = pixels.baseAddress else { throw .mismatch }
        let payload = UnsafeRawBufferPointer(rebasing: block[TileBlock.headerByteCount...])
        guard let kernel = header.filter.kernel else {
            return try unpack(payload, into: target, byteCount: pixels.count)
        }
        guard pixels.count <= maximumTileBytes else { throw .tooLarge }
        let stored = header.storedPlanes.nonzeroBitCount * width * height
        if stored > 0 { try unpack(payload, into: UnsafeMutableRawPointer(planes), byteCount: stored) }
        tk_filter_inverse(
            kernel,
            tk_path_automatic,
            planes,
            UInt32(header.storedPlanes),
            header.firstPixel,
            target.assumingMemoryBound(to: UInt8.self),
            pixels.count / height,
            width,
            height
        )
    }

    /// Puts the parts of a block together in the codec's own memory; `nil` where they are larger than any block that it
    /// makes. The result is valid until the next call.
    package func gather(_ parts: [(start: UnsafeRawPointer, count: Int)]) -> UnsafeRawBufferPointer? {
        var count = 0
        for part in parts {
            guard part.count <= blockCapacity - count else { return nil }
            (block + count).copyMemory(from: part.start, byteCount: part.count)
            count += part.count
        }
        return UnsafeRawBufferPointer(start: block, count: count)
    }

    private func unpack(
        _ payload: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawPointer,
        byteCount: Int
    ) throws(BlockError) {
        guard LZ4Block.decompress(payload, into: target, count: byteCount, scratch: lz4State) else { throw .payload }
    }

    /// Moves the planes that hold anything together and returns their bytes. A picture without transparency, or
    /// without colour, has its empty planes at the end, so that there is seldom anything to move.
    private func gatherPlanes(_ mask: UInt32, planeByteCount: Int) -> Int {
        var stored = 0
        var rest = mask
        while rest != 0 {
            let plane = rest.trailingZeroBitCount
            rest &= rest - 1
            if plane != stored {
                memmove(planes + stored * planeByteCount, planes + plane * planeByteCount, planeByteCount)
            }
            stored += 1
        }
        return stored * planeByteCount
    }
}
