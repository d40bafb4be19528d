import Foundation
import TileCache

/// Speed of halving tiles against copying them, by source bytes.
package struct DownsampleReport: Encodable, Sendable, Hashable {
    /// Millions of source pixels a second, rgba8 averaged as stored.
    package var megapixelsPerSecond: Double
    package var toMemcpy: Double
    /// The same without the processor's vector instructions.
    package var portableToMemcpy: Double
    /// The same averaged as light (sRGB).
    package var lightToMemcpy: Double
}

/// Halves and copies tiles alternately.
struct DownsampleBenchmark {
    private let side = 256
    private let tileCount = 8

    func run(rounds: Int, shouldStop: () -> Bool = { false }) throws -> DownsampleReport {
        guard let plain = ImageHalver(format: .rgba8, alpha: .premultiplied, downsampling: .linear),
            let light = ImageHalver(format: .rgba8, alpha: .premultiplied, downsampling: .sRGB)
        else { throw ReplayError("tiles of rgba8 cannot be halved") }
        let tileBytes = side * side * 4
        var random = SplitMix64(seed: 1)
        var pixels = [UInt8](repeating: 255, count: tileCount * tileBytes)
        for index in pixels.indices where index % 4 != 3 { pixels[index] = UInt8(truncatingIfNeeded: random.next()) }
        var target = [UInt8](repeating: 0, count: pixels.count)

        func time(_ passes: Int, _ body: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Void) -> Double {
            let start = MonotonicTime.ofThread.nanoseconds
            pixels.withUnsafeBytes { pixels in
                target.withUnsafeMutableBytes { target in
                    for pass in 0..<passes * tileCount {
                        let range = pass % tileCount * tileBytes..<(pass % tileCount + 1) * tileBytes
                        body(
                            UnsafeRawBufferPointer(rebasing: pixels[range]),
                            UnsafeMutableRawBufferPointer(rebasing: target[range])
                        )
                    }
                }
            }
            let nanoseconds = Double(max(MonotonicTime.ofThread.nanoseconds - start, 1))
            return nanoseconds / Double(passes * tileCount * tileBytes)
        }
        func halve(_ halver: ImageHalver, isPortable: Bool, passes: Int) -> Double {
            time(passes) { halver.halve($0, width: side, height: side, into: $1, isPortable: isPortable) }
        }
        var samples: [[Double]] = [[], [], [], []]
        for round in 0..<max(rounds, 3) where round == 0 || !shouldStop() {
            samples[0].append(time(40) { _ = memcpy($1.baseAddress!, $0.baseAddress!, tileBytes) })
            samples[1].append(halve(plain, isPortable: false, passes: 40))
            samples[2].append(halve(plain, isPortable: true, passes: 40))
            samples[3].append(halve(light, isPortable: false, passes: 2))
        }
        let medians = samples.map(\.median)
        return DownsampleReport(
            megapixelsPerSecond: 1000 / (4 * medians[1]),
            toMemcpy: medians[0] / medians[1],
            portableToMemcpy: medians[0] / medians[2],
            lightToMemcpy: medians[0] / medians[3]
        )
    }
}
