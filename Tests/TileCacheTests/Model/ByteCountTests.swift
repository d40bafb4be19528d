import Testing
import TileCache

@Suite struct ByteCountTests {
    @Test func unitsAreScaled() {
        #expect(ByteCount.bytes(3).bytes == 3)
        #expect(ByteCount.kibibytes(3).bytes == 3072)
        #expect(ByteCount.mebibytes(3).bytes == 3_145_728)
        #expect(ByteCount.gibibytes(3).bytes == 3_221_225_472)
    }

    @Test func negativeNumbersAreZero() {
        for count in [-1, .min] {
            let counts: [ByteCount] = [.bytes(count), .kibibytes(count), .mebibytes(count), .gibibytes(count)]
            #expect(counts == Array(repeating: .bytes(0), count: 4))
        }
    }

    /// The largest whole number of each unit fits an `Int`; one more is clamped.
    @Test func unitsAreClamped() {
        #expect(ByteCount.kibibytes(1 << 53 - 1).bytes == .max - 1023)
        #expect(ByteCount.kibibytes(1 << 53).bytes == .max)
        #expect(ByteCount.mebibytes(1 << 43 - 1).bytes == .max - 1_048_575)
        #expect(ByteCount.mebibytes(1 << 43).bytes == .max)
        #expect(ByteCount.gibibytes(1 << 33 - 1).bytes == .max - 1_073_741_823)
        #expect(ByteCount.gibibytes(1 << 33).bytes == .max)
    }

    @Test func sumsAreClamped() {
        #expect(ByteCount.bytes(2) + .bytes(3) == .bytes(5))
        #expect(ByteCount.bytes(7) + .bytes(-1) == .bytes(7))
        #expect(ByteCount.bytes(.max - 2) + .bytes(1) == .bytes(.max - 1))
        #expect(ByteCount.bytes(.max - 1) + .bytes(1) == .bytes(.max))
        #expect(ByteCount.bytes(.max) + .bytes(1) == .bytes(.max))
        #expect(ByteCount.bytes(1) + .bytes(.max) == .bytes(.max))
        #expect(ByteCount.bytes(.max) + .bytes(.max) == .bytes(.max))
        var sum = ByteCount.bytes(.max - 2)
        sum += .bytes(1)
        #expect(sum == .bytes(.max - 1))
        sum += .bytes(2)
        #expect(sum == .bytes(.max))
    }

    @Test func descriptionsHaveAUnit() {
        #expect("\(ByteCount.bytes(1_048_575))" == "1048575 bytes")
        #expect("\(ByteCount.mebibytes(1))" == "1.0 MiB")
        #expect("\(ByteCount.bytes(1_572_864))" == "1.5 MiB")
        #expect("\(ByteCount.gibibytes(1024))" == "1048576.0 MiB")
    }
}
