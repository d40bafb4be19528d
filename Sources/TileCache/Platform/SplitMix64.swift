/// The SplitMix64 generator: 64 bits of state, the same numbers on every platform.
///
/// `SystemRandomNumberGenerator` cannot be seeded, and the standard library's conversion of random bits to a `Double`
/// or a range may change with its version; reproducible figures need both fixed.
package struct SplitMix64: Sendable {
    private var state: UInt64

    /// Starts the sequence of a seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// Returns the next number in 0 ..< 1, in steps of 2^-53.
    package mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Returns the next number between two bounds, the upper one excluded.
    package mutating func next(from low: Double, to high: Double) -> Double {
        low + (high - low) * nextUnit()
    }

    /// Output function of the generator, also a good hash of a number.
    @inlinable
    package static func mixed(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
