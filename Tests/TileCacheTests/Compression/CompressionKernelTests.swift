import CTileKernels
import TestSupport
import Testing

@testable import TileCache

/// Both paths of every kernel against a plain model.
@Suite struct CompressionKernelTests {
    static let filters = TileFilter.allCases.filter { $0 != .none }

    @Test(arguments: filters)
    func bothPathsEqualTheModelAtAllSmallWidths(filter: TileFilter) throws {
        var random = SplitMix64(seed: UInt64(filter.rawValue))
        for width in 1...70 {
            let height = [1, 2, 3, 5, 7][width % 5]
            let contents = TileContents.allCases[width % TileContents.allCases.count]
            try check(filter, width: width, height: height, padding: 0, contents, &random)
        }
    }

    @Test(arguments: filters)
    func bothPathsEqualTheModelAtRandomSizesAndStrides(filter: TileFilter) throws {
        var random = SplitMix64(seed: 100 + UInt64(filter.rawValue))
        for contents in TileContents.allCases {
            for _ in 0..<6 {
                let width = Int.random(in: 1...300, using: &random)
                let height = Int.random(in: 1...40, using: &random)
                // Odd paddings put rows at odd addresses.
                let padding = Int.random(in: 0...13, using: &random)
                try check(filter, width: width, height: height, padding: padding, contents, &random)
            }
        }
    }

    /// Wider than the kernels' strips, so that gradients carry over from one to the next.
    @Test(arguments: filters, [1023, 1024, 1025, 2051])
    func wideRows(filter: TileFilter, width: Int) throws {
        var random = SplitMix64(seed: UInt64(width))
        try check(filter, width: width, height: 3, padding: 1, .slopes, &random)
        try check(filter, width: width, height: 1, padding: 0, .noise, &random)
    }

    @Test(arguments: [tk_path_portable, tk_path_avx2])
    func checksumEqualsTheModel(path: tk_path) {
        var random = SplitMix64(seed: 3)
        var sizes = Array(0...600)
        sizes += (0..<20).map { _ in Int.random(in: 601...70_000, using: &random) }
        for count in sizes {
            // One leading byte puts the bytes at an odd address.
            let bytes = TileContents.noise.pixels(width: count + 1, height: 1, bytesPerPixel: 1, random: &random)
            let seed = random.next()
            let sum = bytes.withUnsafeBufferPointer { tk_checksum(path, $0.baseAddress.map { $0 + 1 }, count, seed) }
            #expect(sum == FilterModel.checksum(Array(bytes.dropFirst()), seed: seed), "\(count) bytes")
        }
    }

    @Test func checksumSeesEveryBitAndTheLength() {
        let bytes = [UInt8](repeating: 7, count: 700)
        let whole = tk_checksum(tk_path_automatic, bytes, bytes.count, 1)
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                #expect(tk_checksum(tk_path_automatic, damaged, damaged.count, 1) != whole)
            }
        }
        let zeros = [UInt8](repeating: 0, count: 300)
        let sums = (0...300).map { tk_checksum(tk_path_automatic, zeros, $0, 1) }
        #expect(Set(sums).count == sums.count)
        #expect(tk_checksum(tk_path_automatic, bytes, bytes.count, 2) != whole)
    }

    @Test func unknownFiltersDoNothing() {
        var planes: [UInt8] = [9, 9, 9, 9]
        let pixels: [UInt8] = [1, 2, 3, 4]
        #expect(tk_filter_forward(tk_filter(rawValue: 0), tk_path_automatic, pixels, 4, 1, 1, &planes) == 0)
        #expect(tk_filter_forward(tk_filter(rawValue: 7), tk_path_automatic, pixels, 4, 1, 1, &planes) == 0)
        tk_filter_inverse(tk_filter(rawValue: 7), tk_path_automatic, pixels, 15, 0, &planes, 4, 1, 1)
        #expect(planes == [9, 9, 9, 9])
    }

    // MARK: Checks

    private func check(
        _ filter: TileFilter,
        width: Int,
        height: Int,
        padding: Int,
        _ contents: TileContents,
        _ random: inout SplitMix64
    ) throws {
        let kernel = try #require(filter.kernel)
        let bytesPerPixel = filter.planeCount
        let packed = contents.pixels(width: width, height: height, bytesPerPixel: bytesPerPixel, random: &random)
        let rowBytes = width * bytesPerPixel
        let stride = rowBytes + padding
        var pixels = [UInt8](repeating: 0xee, count: stride * height)
        for y in 0..<height {
            pixels.replaceSubrange(y * stride..<y * stride + rowBytes, with: packed[y * rowBytes..<(y + 1) * rowBytes])
        }
        let model = Self.planes(filter, packed, width: width, height: height)
        let size = width * height
        let held = (0..<bytesPerPixel).filter { plane in model[plane * size..<(plane + 1) * size].contains { $0 != 0 } }
        let mask = held.reduce(UInt32(0)) { $0 | 1 << UInt32($1) }
        let stored = held.flatMap { model[$0 * size..<($0 + 1) * size] }
        let seed = packed.prefix(bytesPerPixel).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let label = "\(filter) \(contents) \(width)x\(height)+\(padding)"

        for path in [tk_path_portable, tk_path_avx2] {
            var planes = [UInt8](repeating: 0xcc, count: size * bytesPerPixel + 64)
            let got = tk_filter_forward(kernel, path, pixels, stride, width, height, &planes)
            #expect(got == mask, "\(label)")
            #expect(Array(planes.dropLast(64)).equals(model), "\(label)")
            #expect(planes.suffix(64).allSatisfy { $0 == 0xcc }, "\(label)")

            var back = [UInt8](repeating: 0xee, count: pixels.count)
            tk_filter_inverse(kernel, path, stored, mask, seed, &back, stride, width, height)
            #expect(back.equals(pixels), "\(label)")
        }
    }

    /// The filters by their definitions.
    static func planes(_ filter: TileFilter, _ pixels: [UInt8], width: Int, height: Int) -> [UInt8] {
        let (channels, bytes): (Int, Int) =
            switch filter {
            case .none: (0, 0)
            case .greenUp8, .gradientBytes32: (4, 1)
            case .greenUp16: (4, 2)
            case .up8: (1, 1)
            case .gradient16: (1, 2)
            case .gradient32: (1, 4)
            }
        return FilterModel(
            channels: channels,
            bytes: bytes,
            isGradient: [.gradient16, .gradient32, .gradientBytes32].contains(filter),
            isGreen: [.greenUp8, .greenUp16].contains(filter),
            isFolded: [.greenUp16, .gradient16, .gradient32].contains(filter)
        ).planes(pixels, width: width, height: height)
    }
}
