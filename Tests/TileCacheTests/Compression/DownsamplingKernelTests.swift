import CTileKernels
import Foundation
import Testing

@testable import TileCache

/// Both paths of every mean against a plain reference.
@Suite struct DownsamplingKernelTests {
    struct Kind: Sendable, CustomStringConvertible {
        var format: TilePixelFormat
        var alpha: TileAlphaMode
        var downsampling: TileDownsampling

        var description: String { "\(format) \(alpha) \(downsampling)" }
    }

    static let formats: [TilePixelFormat] = [.rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32]
    static let kinds = formats.flatMap { format in
        [TileAlphaMode.straight, .premultiplied, .ignored].flatMap { alpha in
            [TileDownsampling.linear, .linearSigned, .sRGB].map {
                Kind(format: format, alpha: alpha, downsampling: $0)
            }
        }
    }
    static let known = kinds.filter { kind in
        kind.downsampling != .sRGB || [.rgba8, .bgra8, .gray8].contains(kind.format)
    }

    @Test func lightIsForEightBitsAndPayloadsAreNotAveraged() {
        for kind in Self.kinds {
            let halver = ImageHalver(format: kind.format, alpha: kind.alpha, downsampling: kind.downsampling)
            #expect((halver != nil) == Self.known.contains { "\($0)" == "\(kind)" }, "\(kind)")
        }
        #expect(ImageHalver(format: .opaque(bytesPerTile: 64), alpha: .ignored, downsampling: .linear) == nil)
    }

    @Test(arguments: known)
    func bothPathsEqualTheReference(kind: Kind) throws {
        var random = SplitMix64(seed: 17)
        for width in Array(1...70) + [255, 256, 257] {
            let height = [1, 2, 3, 4, 7][width % 5]
            try check(kind, width: width, height: height, padding: width % 9, &random)
        }
    }

    /// Worked out by hand.
    @Test func aFewPixels() throws {
        // 1 + 2 + 3 + 4 = 10, and 10 / 4 = 2.5 is rounded up.
        let gray = Kind(format: .gray8, alpha: .ignored, downsampling: .linear)
        #expect(try halved([1, 2, 3, 4], gray, 2, 2) == [3])
        // -1 + 1 + 0 + 0 is 0 with a sign; without, -1 would be 65535.
        let signed = Kind(format: .gray16, alpha: .ignored, downsampling: .linearSigned)
        #expect(try halved([0xFF, 0xFF, 1, 0, 0, 0, 0, 0], signed, 2, 2) == [0, 0])
        // One opaque red pixel among three clear green ones: red with a quarter of the alpha (63.75 is 64).
        let straight = Kind(format: .rgba8, alpha: .straight, downsampling: .linear)
        let clear: [UInt8] = [0, 255, 0, 0]
        #expect(try halved([255, 0, 0, 255] + clear + clear + clear, straight, 2, 2) == [255, 0, 0, 64])
        #expect(try halved(clear + clear + clear + clear, straight, 2, 2) == [0, 0, 0, 0])
        // Half black and half white is half of the light, which sRGB encodes as 188.
        let light = Kind(format: .gray8, alpha: .ignored, downsampling: .sRGB)
        #expect(try halved([0, 255, 255, 0], light, 2, 2) == [188])
        #expect(try halved([0, 255, 255, 0], gray, 2, 2) == [128])
        // Three columns and one row: the last column is averaged with itself.
        #expect(try halved([10, 20, 7], gray, 3, 1) == [15, 7])
    }

    @Test(arguments: known)
    func onePixelValueStaysWhatItIs(kind: Kind) throws {
        let bytes = try #require(kind.format.bytesPerPixel)
        for value in 0...255 {
            var pixel = [UInt8](repeating: UInt8(value), count: bytes)
            if kind.format == .float32 { pixel = [0, 0, UInt8(value & 127), 0x40] }
            if kind.alpha == .straight, bytes >= 4, kind.format != .float32 { pixel[bytes - 1] = UInt8(max(value, 1)) }
            let image = Array(repeating: pixel, count: 16).flatMap { $0 }
            #expect(try halved(image, kind, 4, 4) == Array(repeating: pixel, count: 4).flatMap { $0 }, "\(value)")
        }
    }

    /// The lowest number marks missing data in rasters of floats. Its mean was infinite.
    @Test func theLargestNumbersStayWhatTheyAre() throws {
        let kind = Kind(format: .float32, alpha: .ignored, downsampling: .linear)
        for value in [-Float.greatestFiniteMagnitude, .greatestFiniteMagnitude, .infinity] {
            let pixel = withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
            for width in [2, 9, 40] {
                let image = Array(repeating: pixel, count: 2 * width).flatMap { $0 }
                let mean = Array(repeating: pixel, count: (width + 1) / 2).flatMap { $0 }
                #expect(try halved(image, kind, width, 2) == mean, "\(value)")
            }
        }
    }

    /// The mean of four opaque pixels is the plain one, whatever alpha means.
    @Test func opaqueColoursDoNotMindWhatAlphaMeans() throws {
        var random = SplitMix64(seed: 3)
        for downsampling in [TileDownsampling.linear, .sRGB] {
            let image = (0..<64 * 8 * 4).map { $0 % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: random.next()) }
            let means = try [TileAlphaMode.straight, .premultiplied, .ignored].map {
                try halved(image, .init(format: .rgba8, alpha: $0, downsampling: downsampling), 64, 8)
            }
            #expect(means[0] == means[2] && means[1] == means[2])
        }
    }

    // MARK: -

    private func check(_ kind: Kind, width: Int, height: Int, padding: Int, _ random: inout SplitMix64) throws {
        let halver = try #require(
            ImageHalver(format: kind.format, alpha: kind.alpha, downsampling: kind.downsampling)
        )
        let bytes = halver.bytesPerPixel
        let stride = width * bytes + padding
        var image = [UInt8](repeating: 0, count: stride * height + 64)
        let opaque = random.next() % 3 == 0
        for index in image.indices { image[index] = UInt8(truncatingIfNeeded: random.next()) }
        for y in 0..<height {
            for x in 0..<width {
                let at = y * stride + x * bytes
                if kind.format == .float32 {
                    let value = Float(Int32(truncatingIfNeeded: random.next())) / 1000
                    withUnsafeBytes(of: value.bitPattern.littleEndian) { for k in 0..<4 { image[at + k] = $0[k] } }
                } else if bytes == 4 || bytes == 8, opaque || random.next() % 4 == 0 {
                    for k in bytes * 3 / 4..<bytes { image[at + k] = random.next() % 8 == 0 && !opaque ? 0 : 255 }
                }
            }
        }
        let (w, h) = ((width + 1) / 2, (height + 1) / 2)
        let packed = (0..<height).flatMap { image[$0 * stride..<$0 * stride + width * bytes] }
        let expected = NaiveMean(kind).halved(Array(packed), width: width, height: height)
        for path in [tk_path_portable, tk_path_avx2, tk_path_automatic] {
            for inPlace in [false, true] {
                let targetStride = inPlace ? stride : w * bytes + 5
                var target = inPlace ? image : [UInt8](repeating: 0xA5, count: targetStride * h + 64)
                target.withUnsafeMutableBytes { target in
                    image.withUnsafeBytes { image in
                        halver.halve(
                            inPlace ? UnsafeRawPointer(target.baseAddress!) : image.baseAddress!,
                            stride: stride,
                            width: width,
                            height: height,
                            into: target.baseAddress!,
                            stride: targetStride,
                            path: path
                        )
                    }
                }
                let rows = (0..<h).flatMap { target[$0 * targetStride..<$0 * targetStride + w * bytes] }
                #expect(Array(rows) == expected, "\(width) x \(height), path \(path.rawValue), in place \(inPlace)")
                guard !inPlace else { continue }
                // No byte beyond its rows.
                for y in 0..<h { #expect(target[y * targetStride + w * bytes] == 0xA5) }
            }
        }
    }

    private func halved(_ image: [UInt8], _ kind: Kind, _ width: Int, _ height: Int) throws -> [UInt8] {
        let halver = try #require(
            ImageHalver(format: kind.format, alpha: kind.alpha, downsampling: kind.downsampling)
        )
        let stride = (width + 1) / 2 * halver.bytesPerPixel
        var target = [UInt8](repeating: 0, count: stride * ((height + 1) / 2))
        target.withUnsafeMutableBytes { target in
            image.withUnsafeBytes {
                halver.halve(
                    $0.baseAddress!,
                    stride: width * halver.bytesPerPixel,
                    width: width,
                    height: height,
                    into: target.baseAddress!,
                    stride: stride
                )
            }
        }
        return target
    }
}
