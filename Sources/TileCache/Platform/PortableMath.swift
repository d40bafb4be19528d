/// Maths functions with the same bits on every platform, composed of exact IEEE 754 operations. These are + - * / and
/// bit patterns.
///
/// The output of `cachebench` must be equal on every machine. The last bit of `exp` or `log` depends on the library;
/// that of a sum or a product does not, and Swift never fuses the two by itself. Errors are in units in the last place
/// of the result, as the tests measure them against the C library.
package enum PortableMath {
    private static let squareRootOf2 = 1.4142135623730951

    /// Logarithm to the base 2, within 1 unit; exact for powers of two.
    ///
    /// Minus infinity for 0, NaN below.
    package static func log2(_ x: Double) -> Double {
        guard x > 0, x.isFinite else { return x == 0 ? -.infinity : x > 0 ? x : .nan }
        var exponent = Double(x.exponent)
        var significand = x.significand
        // Centred on 1, so that the series is short and nothing cancels near 1.
        if significand > squareRootOf2 {
            significand *= 0.5
            exponent += 1
        }
        // ln (1 + f) = f - f^2/2 + s (f^2/2 + R) with s = f / (2 + f) and R = 2 (s^2/3 + s^4/5 + ...): f is exact, and
        // all rounded terms are small beside it.
        let f = significand - 1
        let s = f / (2 + f)
        let z = s * s
        var sum = 1.0 / 23
        sum = sum * z + 1.0 / 21
        sum = sum * z + 1.0 / 19
        sum = sum * z + 1.0 / 17
        sum = sum * z + 1.0 / 15
        sum = sum * z + 1.0 / 13
        sum = sum * z + 1.0 / 11
        sum = sum * z + 1.0 / 9
        sum = sum * z + 1.0 / 7
        sum = sum * z + 1.0 / 5
        sum = sum * z + 1.0 / 3
        let half = 0.5 * f * f
        // Times 1 / ln 2, in two parts of which the products of the upper halves are exact.
        let high = upperHalf(f - half)
        let low = (f - high) - half + s * (half + 2 * z * sum)
        let exact = high * 0x1.71547652p+0
        let rest = (low + high) * 0x1.705fc2eefa2p-33 + low * 0x1.71547652p+0
        let total = exponent + exact
        return total + (rest + ((exponent - total) + exact))
    }

    /// 2 to the power of x, within 1 unit; exact for integers. Overflows to infinity, underflows to 0.
    package static func exp2(_ x: Double) -> Double {
        guard x < 1100 else { return x.isNaN ? x : .infinity }
        guard x > -1100 else { return 0 }
        let whole = x.rounded(.toNearestOrEven)
        return scaled(smallExp((x - whole) * 0.6931471805599453), byPowerOf2: Int(whole))
    }

    /// e to the power of x, within 1 unit. Overflows to infinity, underflows to 0.
    package static func exp(_ x: Double) -> Double {
        guard x < 760 else { return x.isNaN ? x : .infinity }
        guard x > -760 else { return 0 }
        let whole = (x * 1.4426950408889634).rounded(.toNearestOrEven)
        // ln 2 in two parts, the first so short that its product with an integer is exact.
        let rest = (x - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33
        return scaled(smallExp(rest), byPowerOf2: Int(whole))
    }

    /// x to the power of y for x >= 0; NaN below.
    ///
    /// The error grows with the result's exponent: within 2 + 2 |y log2 x| units.
    package static func pow(_ x: Double, _ y: Double) -> Double {
        if y == 0 || x == 1 { return 1 }
        return exp2(y * log2(x))
    }

    /// Sine of an angle in radians, within 2 units up to a million radians. NaN for infinity.
    ///
    /// Larger angles are first reduced by the floating-point number nearest to a full turn.
    package static func sin(_ x: Double) -> Double {
        let (quadrant, rest) = reduced(x)
        let value = quadrant & 1 == 0 ? smallSin(rest) : smallCos(rest)
        return quadrant & 2 == 0 ? value : -value
    }

    /// Cosine of an angle in radians; as exact as ``sin(_:)``.
    package static func cos(_ x: Double) -> Double {
        let (quadrant, rest) = reduced(x)
        let value = quadrant & 1 == 0 ? smallCos(rest) : smallSin(rest)
        return (quadrant + 1) & 2 == 0 ? value : -value
    }

    /// x without the lower 32 bits of its significand.
    private static func upperHalf(_ x: Double) -> Double {
        Double(bitPattern: x.bitPattern & 0xFFFF_FFFF_0000_0000)
    }

    /// e^x by its series, for x within 0.35 of 0.
    private static func smallExp(_ x: Double) -> Double {
        var sum = 1.0 / 6_227_020_800
        sum = sum * x + 1.0 / 479_001_600
        sum = sum * x + 1.0 / 39_916_800
        sum = sum * x + 1.0 / 3_628_800
        sum = sum * x + 1.0 / 362_880
        sum = sum * x + 1.0 / 40_320
        sum = sum * x + 1.0 / 5_040
        sum = sum * x + 1.0 / 720
        sum = sum * x + 1.0 / 120
        sum = sum * x + 1.0 / 24
        sum = sum * x + 1.0 / 6
        sum = sum * x + 0.5
        return 1 + (x + x * x * sum)
    }

    /// x 2^n, in two steps if 2^n alone is not a normal number.
    private static func scaled(_ x: Double, byPowerOf2 n: Int) -> Double {
        if n >= -1022, n <= 1023 { return x * Double(bitPattern: UInt64(n + 1023) << 52) }
        let half = n / 2
        return x * Double(bitPattern: UInt64(half + 1023) << 52) * Double(bitPattern: UInt64(n - half + 1023) << 52)
    }

    /// Nearest quarter turn to x, and the distance of x from it.
    private static func reduced(_ x: Double) -> (quadrant: Int, rest: Double) {
        guard x.isFinite else { return (0, .nan) }
        let near = x.magnitude <= 1_048_576 ? x : x.truncatingRemainder(dividingBy: 6.283185307179586)
        let quarters = (near * 0.6366197723675814).rounded(.toNearestOrEven)
        // A quarter turn in four parts of 33 bits, whose products with an integer of 20 bits are exact.
        var rest = near - quarters * 0x1.921fb544p+0
        rest -= quarters * 0x1.0b4611a6p-34
        rest -= quarters * 0x1.3198a2e0p-69
        rest -= quarters * 0x1.b839a252049c1p-104
        return (Int(quarters), rest)
    }

    /// Sine by its series, for x within an eighth of a turn of 0.
    private static func smallSin(_ x: Double) -> Double {
        let z = x * x
        var sum = 1.0 / 355_687_428_096_000
        sum = sum * z - 1.0 / 1_307_674_368_000
        sum = sum * z + 1.0 / 6_227_020_800
        sum = sum * z - 1.0 / 39_916_800
        sum = sum * z + 1.0 / 362_880
        sum = sum * z - 1.0 / 5_040
        sum = sum * z + 1.0 / 120
        sum = sum * z - 1.0 / 6
        return x + x * (z * sum)
    }

    /// Cosine by its series, for x within an eighth of a turn of 0.
    private static func smallCos(_ x: Double) -> Double {
        let z = x * x
        var sum = 1.0 / 20_922_789_888_000
        sum = sum * z - 1.0 / 87_178_291_200
        sum = sum * z + 1.0 / 479_001_600
        sum = sum * z - 1.0 / 3_628_800
        sum = sum * z + 1.0 / 40_320
        sum = sum * z - 1.0 / 720
        sum = sum * z + 1.0 / 24
        let half = 0.5 * z
        let lead = 1 - half
        // Adds the rounding error of 1 - z/2 to the rest of the series.
        return lead + (((1 - lead) - half) + z * z * sum)
    }
}
