/// Fingerprint of short byte strings: SipHash-2-4 with 128 bits of output.
///
/// The checksum of the kernels is no fingerprint: its lanes do not depend on the seed, so that a second seed adds
/// little. The key is fixed and public, so data made to collide is possible in theory; none is known.
struct SipHash128 {
    private var v0: UInt64 = 0x736f_6d65_7073_6575
    private var v1: UInt64 = 0x646f_7261_6e64_6f6d ^ 0xee
    private var v2: UInt64 = 0x6c79_6765_6e65_7261
    private var v3: UInt64 = 0x7465_6462_7974_6573

    /// Hashes bytes with a key of two words.
    static func hash(_ bytes: [UInt8], key: (UInt64, UInt64) = (0, 0)) -> (UInt64, UInt64) {
        var state = SipHash128()
        state.v0 ^= key.0
        state.v1 ^= key.1
        state.v2 ^= key.0
        state.v3 ^= key.1
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word |= UInt64(byte) << UInt64(index % 8 * 8)
            if index % 8 == 7 {
                state.add(word)
                word = 0
            }
        }
        state.add(word | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.finish()
    }

    /// Adds eight bytes; the last word has the number of bytes in its highest byte.
    mutating func add(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    mutating func finish() -> (UInt64, UInt64) {
        v2 ^= 0xee
        for _ in 0..<4 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xdd
        for _ in 0..<4 { round() }
        return (first, v0 ^ v1 ^ v2 ^ v3)
    }

    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
