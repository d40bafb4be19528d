/// The SplitMix64 generator: 64 bits of state, the same numbers on every platform from the same seed.
///
/// `SystemRandomNumberGenerator` cannot be seeded, and how the standard library turns random bits into a
/// `Double` or a range may change with its version; a figure that is to be made again needs both fixed.
package struct SplitMix64: Sendable {
    private var state: UInt64

    /// Starts the sequence that belongs to a seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// The next number in 0 ..< 1, in steps of 2^-53.
    package mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// The next number between two bounds, the upper one left out.
    package mutating func next(from low: Double, to high: Double) -> Double {
        low + (high - low) * nextUnit()
    }

    /// The generator's own way to spread the bits of a number: also a good hash of one.
    @inlinable
    package static func mixed(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
