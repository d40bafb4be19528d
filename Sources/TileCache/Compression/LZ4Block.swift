#if canImport(Darwin) && canImport(Compression)
    import Compression
#else
    import CLZ4
#endif

/// Raw LZ4 blocks: Apple's Compression if it can be imported, else the system's liblz4. The format is the same.
enum LZ4Block {
    /// Maximum input of one block, as in lz4.h.
    static let maximumInput = 0x7E00_0000

    /// Maximum size of a block of `count` bytes, as `LZ4_compressBound`.
    static func bound(_ count: Int) -> Int { count + count / 255 + 16 }

    /// Bytes of scratch memory, 16-byte aligned, that `compress` needs.
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

    /// Compresses `source` into `target`; returns the bytes of the block, or 0 if it does not fit.
    static func compress(
        _ source: UnsafeBufferPointer<UInt8>,
        into target: UnsafeMutableBufferPointer<UInt8>,
        scratch: UnsafeMutableRawPointer
    ) -> Int {
        guard let from = source.baseAddress, let to = target.baseAddress else { return 0 }
        #if canImport(Darwin) && canImport(Compression)
            return compression_encode_buffer(to, target.count, from, source.count, scratch, COMPRESSION_LZ4_RAW)
        #else
            return Int(
                LZ4_compress_fast_extState(
                    scratch,
                    UnsafeRawPointer(from).assumingMemoryBound(to: CChar.self),
                    UnsafeMutableRawPointer(to).assumingMemoryBound(to: CChar.self),
                    Int32(source.count),
                    Int32(clamping: target.count),
                    1
                )
            )
        #endif
    }

    /// Decompresses a block of `count` bytes into `target`; returns `false` if it has fewer. Apple's library ignores more.
    static func decompress(
        _ block: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawPointer,
        count: Int,
        scratch: UnsafeMutableRawPointer
    ) -> Bool {
        guard let from = block.baseAddress, block.count <= Int32.max, count <= Int32.max else { return false }
        #if canImport(Darwin) && canImport(Compression)
            let written = compression_decode_buffer(
                target.assumingMemoryBound(to: UInt8.self),
                count,
                from.assumingMemoryBound(to: UInt8.self),
                block.count,
                scratch,
                COMPRESSION_LZ4_RAW
            )
        #else
            let written = Int(
                LZ4_decompress_safe(
                    from.assumingMemoryBound(to: CChar.self),
                    target.assumingMemoryBound(to: CChar.self),
                    Int32(block.count),
                    Int32(count)
                )
            )
        #endif
        return written == count
    }
}
