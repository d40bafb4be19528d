#if canImport(Darwin) && canImport(Compression)
    import Compression
#else
    import CLZ4
#endif

/// Raw LZ4 blocks: Apple's Compression if it can be imported, else the system's liblz4. The format is the same.
enum LZ4Block {
    /// The largest input of one block, as in lz4.h.
    static let maximumInput = 0x7E00_0000

    /// The largest block that an input of `count` bytes can become, as `LZ4_compressBound`.
    static func bound(_ count: Int) -> Int { count + count / 255 + 16 }

    /// Bytes of scratch memory, 16-byte aligned, that both directions need.
    static var scratchByteCount: Int {
        #if canImport(Darwin) && canImport(Compression)
            max(
                compression_encode_scratch_buffer_size(COMPRESSION_LZ4_RAW),
                compression_decode_scratch_buffer_size(COMPRESSION_LZ4_RAW)
            )
        #else
            Int(LZ4_sizeofState())
        #endif
    }

    /// Compresses `count` bytes of `source`, at most `maximumInput`. Returns the bytes of the block, or 0 if it exceeds
    /// `capacity`.
    static func compress(
        _ source: UnsafeRawPointer,
        count: Int,
        into target: UnsafeMutableRawPointer,
        capacity: Int,
        scratch: UnsafeMutableRawPointer
    ) -> Int {
        #if canImport(Darwin) && canImport(Compression)
            compression_encode_buffer(
                target.assumingMemoryBound(to: UInt8.self),
                capacity,
                source.assumingMemoryBound(to: UInt8.self),
                count,
                scratch,
                COMPRESSION_LZ4_RAW
            )
        #else
            Int(
                LZ4_compress_fast_extState(
                    scratch,
                    source.assumingMemoryBound(to: CChar.self),
                    target.assumingMemoryBound(to: CChar.self),
                    Int32(count),
                    Int32(clamping: capacity),
                    1
                )
            )
        #endif
    }

    /// Decompresses a block into `count` bytes at `target`. Returns `false` if the block has fewer bytes; Apple's
    /// library ignores further ones.
    static func decompress(
        _ block: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawPointer,
        count: Int,
        scratch: UnsafeMutableRawPointer
    ) -> Bool {
        guard let source = block.baseAddress, block.count <= Int32.max, count <= Int32.max else { return false }
        #if canImport(Darwin) && canImport(Compression)
            let written = compression_decode_buffer(
                target.assumingMemoryBound(to: UInt8.self),
                count,
                source.assumingMemoryBound(to: UInt8.self),
                block.count,
                scratch,
                COMPRESSION_LZ4_RAW
            )
        #else
            let written = Int(
                LZ4_decompress_safe(
                    source.assumingMemoryBound(to: CChar.self),
                    target.assumingMemoryBound(to: CChar.self),
                    Int32(block.count),
                    Int32(count)
                )
            )
        #endif
        return written == count
    }
}
