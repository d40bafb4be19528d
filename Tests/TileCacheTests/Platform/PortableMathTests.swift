import Testing

@testable import TileCache

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct PortableMathTests {
    /// Largest difference to the C library over many arguments. In units in the last place of the result.
    private func worst(
        _ range: ClosedRange<Double>,
        _ portable: (Double) -> Double,
        _ reference: (Double) -> Double
    ) -> Double {
        var random = SplitMix64(seed: 7)
        var worst = 0.0
        for _ in 0..<100_000 {
            let x = random.next(from: range.lowerBound, to: range.upperBound)
            let expected = reference(x)
            worst = max(worst, (portable(x) - expected).magnitude / expected.ulp)
        }
        return worst
    }

    @Test(arguments: [0.5...2, 0.99...1.01, 1e-6...1e6, 1e-300...1e-290, 1e290...1e300])
    func logarithms(range: ClosedRange<Double>) {
        #expect(worst(range, PortableMath.log2, { log2($0) }) <= 1)
    }

    @Test(arguments: [-1...1, -20...4, -1000...1000])
    func powersOfTwoAndE(range: ClosedRange<Double>) {
        #expect(worst(range, PortableMath.exp2, { exp2($0) }) <= 1)
        let inNarrow = range.lowerBound * 0.69...range.upperBound * 0.69
        #expect(worst(inNarrow, PortableMath.exp, { exp($0) }) <= 1)
    }

    @Test(arguments: [-1...1, -10...10, -1000...1000, 999_000...1_000_000])
    func angles(range: ClosedRange<Double>) {
        #expect(worst(range, PortableMath.sin, { sin($0) }) <= 2)
        #expect(worst(range, PortableMath.cos, { cos($0) }) <= 2)
    }

    @Test func powers() {
        #expect(worst(0.1...10, { PortableMath.pow($0, 0.5) }, { pow($0, 0.5) }) <= 4)
        #expect(worst(0.1...10, { PortableMath.pow($0, 7) }, { pow($0, 7) }) <= 49)
        #expect(PortableMath.pow(0, 2) == 0)
        #expect(PortableMath.pow(0, -2) == .infinity)
        #expect(PortableMath.pow(-1, 2).isNaN)
        #expect(PortableMath.pow(5, 0) == 1)
        #expect(PortableMath.pow(2, 10) == 1024)
    }

    @Test func wholePowersOfTwoAreExactBothWays() {
        for exponent in -1074...1023 {
            let power = Double(sign: .plus, exponent: exponent, significand: 1)
            #expect(PortableMath.log2(power) == Double(exponent))
            #expect(PortableMath.exp2(Double(exponent)) == power)
        }
    }

    @Test func endsOfTheRange() {
        #expect(PortableMath.log2(0) == -.infinity)
        #expect(PortableMath.log2(.infinity) == .infinity)
        #expect(PortableMath.log2(-1).isNaN)
        #expect(PortableMath.log2(.nan).isNaN)
        #expect(PortableMath.exp2(1024) == .infinity)
        #expect(PortableMath.exp2(-1076) == 0)
        #expect(PortableMath.exp2(.infinity) == .infinity)
        #expect(PortableMath.exp2(-.infinity) == 0)
        #expect(PortableMath.exp(710) == .infinity)
        #expect(PortableMath.exp(-746) == 0)
        #expect(PortableMath.exp(0) == 1)
        #expect(PortableMath.exp(.nan).isNaN)
        #expect(PortableMath.sin(0) == 0)
        #expect(PortableMath.cos(0) == 1)
        #expect(PortableMath.sin(.infinity).isNaN)
        #expect((-1...1).contains(PortableMath.cos(1e300)))
    }

    /// The exact bits, which must not depend on machine or compiler.
    @Test func theSameBitsEverywhere() {
        #expect(PortableMath.log2(3).bitPattern == 0x3FF9_5C01_A39F_BD68)
        #expect(PortableMath.log2(0.7).bitPattern == 0xBFE0_7762_2896_7D13)
        #expect(PortableMath.log2(1.0001).bitPattern == 0x3F22_E8A3_A504_1F41)
        #expect(PortableMath.exp2(0.1).bitPattern == 0x3FF1_25FB_EE25_0664)
        #expect(PortableMath.exp2(-6.7).bitPattern == 0x3F83_B2C4_7BFF_8328)
        #expect(PortableMath.exp(1).bitPattern == 0x4005_BF0A_8B14_576A)
        #expect(PortableMath.exp(-0.016).bitPattern == 0x3FEF_7DF8_93D7_9A36)
        #expect(PortableMath.sin(1).bitPattern == 0x3FEA_ED54_8F09_0CEE)
        #expect(PortableMath.cos(2.5).bitPattern == 0xBFE9_A2F7_EF85_8B7D)
        #expect(PortableMath.pow(0.998, 250).bitPattern == 0x3FE3_6636_4D7E_CB28)
    }

    /// The first numbers of the published generator for the seed 1234567.
    @Test func splitMixGivesItsPublishedNumbers() {
        var random = SplitMix64(seed: 1_234_567)
        #expect(random.next() == 6_457_827_717_110_365_317)
        #expect(random.next() == 3_203_168_211_198_807_973)
        #expect(random.next() == 9_817_491_932_198_370_423)
    }
}
