import Foundation

@testable import TileCache

/// Plain means of 2 x 2 pixels: no tables, no vector code.
struct NaiveMean {
    private let kind: DownsamplingKernelTests.Kind

    init(_ kind: DownsamplingKernelTests.Kind) { self.kind = kind }

    /// Halves an image of packed rows.
    func halved(_ image: [UInt8], width: Int, height: Int) -> [UInt8] {
        let bytes = kind.format.bytesPerPixel!
        func pixel(_ x: Int, _ y: Int) -> ArraySlice<UInt8> {
            let at = (min(y, height - 1) * width + min(x, width - 1)) * bytes
            return image[at..<at + bytes]
        }
        var result: [UInt8] = []
        for y in stride(from: 0, to: height, by: 2) {
            for x in stride(from: 0, to: width, by: 2) {
                result += mean([pixel(x, y), pixel(x + 1, y), pixel(x, y + 1), pixel(x + 1, y + 1)].map(Array.init))
            }
        }
        return result
    }

    private func mean(_ pixels: [[UInt8]]) -> [UInt8] {
        switch kind.format {
        case .float32:
            let values = pixels.map { bytes in
                Float(bitPattern: bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            }
            let mean = ((values[0] + values[1]) + (values[2] + values[3])) / 4
            return (0..<4).map { UInt8(truncatingIfNeeded: mean.bitPattern >> (8 * $0)) }
        case .gray16, .rgba16:
            let channels = pixels.map { bytes in
                stride(from: 0, to: bytes.count, by: 2).map { index -> Int in
                    let value = UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
                    let isSigned = kind.format == .gray16 && kind.downsampling == .linearSigned
                    return isSigned ? Int(Int16(bitPattern: value)) : Int(value)
                }
            }
            return mean(channels).flatMap { value -> [UInt8] in
                [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
            }
        default:
            return mean(pixels.map { $0.map(Int.init) }).map { UInt8($0) }
        }
    }

    private func mean(_ pixels: [[Int]]) -> [Int] {
        let isLight = kind.downsampling == .sRGB
        let plain = pixels[0].indices.map { channel -> Int in
            let values = pixels.map { $0[channel] }
            return isLight && channel != 3
                ? encoded(values.map(light).reduce(0, +) / 4) : rounded(values.reduce(0, +), over: 4)
        }
        guard pixels[0].count == 4, kind.alpha != .ignored, isLight || kind.alpha == .straight else { return plain }
        let all = pixels.reduce(0) { $0 + $1[3] }
        guard all > 0 else { return [0, 0, 0, 0] }
        let colours = (0..<3).map { channel -> Int in
            if !isLight { return rounded(pixels.reduce(0) { $0 + $1[channel] * $1[3] }, over: all) }
            let sum = pixels.reduce(0.0) { sum, pixel in
                var value = pixel[channel]
                if kind.alpha == .premultiplied {
                    value = pixel[3] == 0 ? 0 : min(rounded(255 * value, over: pixel[3]), 255)
                }
                return sum + light(value) * Double(pixel[3])
            }
            let mean = encoded(sum / Double(all))
            return kind.alpha == .premultiplied ? rounded(mean * plain[3], over: 255) : mean
        }
        return colours + [plain[3]]
    }

    /// To the nearest, halves up, negative numbers too.
    private func rounded(_ value: Int, over divisor: Int) -> Int {
        let doubled = 2 * value + divisor
        let quotient = doubled / (2 * divisor)
        return doubled % (2 * divisor) < 0 ? quotient - 1 : quotient
    }

    private func light(_ value: Int) -> Double {
        let x = Double(value) / 255
        return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4)
    }

    private func encoded(_ light: Double) -> Int {
        let x = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        // An exact half may come out slightly below.
        return Int((x * 255 + 0.5 + 1e-9).rounded(.down))
    }
}
