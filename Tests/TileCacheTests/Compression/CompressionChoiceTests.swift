import TestSupport
import Testing

@testable import TileCache

/// Filter chosen for a tile.
@Suite struct CompressionChoiceTests {
    private func choice(_ pixels: [UInt8], _ width: Int, _ height: Int, _ format: TilePixelFormat) -> TileFilter {
        pixels.withUnsafeBytes { TileFilter.choose(for: $0, width: width, height: height, format: format) }
    }

    private func bytes<Number>(_ numbers: [Number]) -> [UInt8] { numbers.withUnsafeBytes { [UInt8]($0) } }

    @Test func picturesAreFilteredAndDrawingsAreNot() {
        var random = SplitMix64(seed: 1)
        for format in [TilePixelFormat.rgba8, .bgra8, .gray8, .rgba16] {
            let bytesPerPixel = format.bytesPerPixel ?? 0
            let slopes = (0..<64 * 64 * bytesPerPixel).map { UInt8(truncatingIfNeeded: $0 / bytesPerPixel * 3) }
            #expect(choice(slopes, 64, 64, format) != .none)
            #expect(choice(slopes, 64, 64, format).planeCount == bytesPerPixel)
            let drawing = (0..<64 * 64 * bytesPerPixel).map { UInt8(truncatingIfNeeded: $0 / bytesPerPixel / 8 * 91) }
            #expect(choice(drawing, 64, 64, format) == .none)
        }
        let noise = TileContents.noise.pixels(width: 32, height: 32, bytesPerPixel: 4, random: &random)
        #expect(choice(noise, 32, 32, .opaque(bytesPerTile: noise.count)) == .none)
    }

    /// Of 11 pixels in a row, 10 have a left neighbour. Six equal ones are 60 %, seven are more.
    @Test func sixtyPercentIsTheLimit() {
        func row(equal: Int) -> [UInt8] { (0..<11).map { UInt8(max(0, $0 - equal)) } }
        #expect(choice(row(equal: 6), 11, 1, .gray8) == .up8)
        #expect(choice(row(equal: 7), 11, 1, .gray8) == .none)
    }

    @Test func plainsOfElevationAreNoDrawing() {
        // Steps of one metre every eight pixels, and the same with steps of a thousand.
        let plain = (0..<64 * 64).map { (at: Int) -> UInt16 in UInt16(at / 8 % 8) + 400 }
        #expect(choice(bytes(plain), 64, 64, .gray16) == .gradient16)
        let drawing = (0..<64 * 64).map { (at: Int) -> UInt16 in UInt16(at / 8 % 8) * 1000 }
        #expect(choice(bytes(drawing), 64, 64, .gray16) == .none)
    }

    @Test func floatsThatHoldWholeNumbersAreTakenByBytes() {
        let metres = (0..<64 * 64).map { (at: Int) -> Float in Float(at % 1000) }
        #expect(choice(bytes(metres), 64, 64, .float32) == .gradientBytes32)
        #expect(choice(bytes(metres.map { $0 / 7 }), 64, 64, .float32) == .gradient32)
    }

    @Test func tilesOfOneColumnHaveNoNeighbours() {
        #expect(choice([1, 2, 3, 4], 1, 4, .gray8) == .up8)
        #expect(choice([1, 2, 3, 4], 1, 1, .rgba8) == .greenUp8)
    }
}
