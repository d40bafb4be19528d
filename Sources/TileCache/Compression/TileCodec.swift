import CTileKernels

/// Result of compressing a tile.
package enum CompressedTile {
    /// Eight bytes whose repetition is the tile; nothing else is kept (``SolidTile/fill(_:with:)``).
    case solid(UInt64)
    /// A block, in the codec's own memory until its next call.
    case block(UnsafeRawBufferPointer)
    /// Not worth compressing: keep the pixels or evict the tile.
    case raw
}

/// Reason why a codec cannot be created.
package enum TileCodecError: Error, Equatable {
    /// The tile is empty or exceeds LZ4's maximum input.
    case tileSize(bytes: Int, limit: Int)
    /// The system denied the memory.
    case memory(bytes: Int)
}

/// Compresses and decompresses tiles with filter and LZ4, with the scratch memory that both need.
///
/// One for each worker, never shared between threads; its ``scratchByteCount`` counts against the cache's limit.
package final class TileCodec {
    /// Size of the largest tile that this codec accepts.
    package let maximumTileBytes: Int
    /// All memory of the codec.
    package let scratchByteCount: Int

    /// A separate region. The allocator would keep freed memory of this size for other uses, uncounted.
    private let scratch: MemoryRegion
    /// Filtered pixels, before compression or after decompression.
    private let planes: UnsafeMutablePointer<UInt8>
    /// Memory to build a block in: a header and LZ4's worst case.
    private let block: UnsafeMutableRawPointer
    private let blockCapacity: Int
    private let lz4State: UnsafeMutableRawPointer

    /// Blocks larger than 15/16 of the pixels are not kept. The pages of the compressed tier lose more to rounding, and
    /// every hit costs a decompression.
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

    /// Compresses a tile with packed rows. The result is valid until the next call.
    ///
    /// A tile larger than the codec's maximum, or of another size than its format requires, stays raw.
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

    /// Compresses with a given filter, for tests and measurements.
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
                input,
                count: inputByteCount,
                into: block + TileBlock.headerByteCount,
                capacity: blockCapacity - TileBlock.headerByteCount,
                scratch: lz4State
            )
            guard header.payloadByteCount > 0 else { return .raw }
        }
        let byteCount = TileBlock.headerByteCount + header.payloadByteCount
        guard Self.keeps(blockByteCount: byteCount, of: pixels.count) else { return .raw }
        header.seal(block, width: width, height: height, format: format)
        return .block(UnsafeRawBufferPointer(start: block, count: byteCount))
    }

    /// Decompresses a block to pixels with packed rows.
    ///
    /// Throws for a damaged block; the pixels are then undefined.
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

    /// Joins the parts of a block in the codec's own memory. Returns `nil` if they exceed its largest block. The result
    /// is valid until the next call.
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

    /// Joins the planes that are not empty and returns their bytes. A picture without transparency, or without colour,
    /// has its empty planes at the end, so that there is seldom anything to move.
    private func gatherPlanes(_ mask: UInt32, planeByteCount: Int) -> Int {
        var stored = 0
        var rest = mask
        while rest != 0 {
            let plane = rest.trailingZeroBitCount
            rest &= rest - 1
            if plane != stored {
                let target = planes + stored * planeByteCount
                target.update(from: planes + plane * planeByteCount, count: planeByteCount)
            }
            stored += 1
        }
        return stored * planeByteCount
    }
}
