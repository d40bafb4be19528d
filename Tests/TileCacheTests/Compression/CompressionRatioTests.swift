import CLZ4
import Foundation
import Testing

@testable import TileCache

/// Compression ratios of real tiles in the directory that `TILECACHE_TILES` names.
@Suite struct CompressionRatioTests {
    private static let tileDirectory = ProcessInfo.processInfo.environment["TILECACHE_TILES"]

    /// At least the best of LZ4 alone and LZ4 after the usual filters. Per class, less 3 %.
    @Test(.enabled(if: tileDirectory != nil, "TILECACHE_TILES names no directory of tiles"))
    func ratiosOnRealTiles() throws {
        let directory = try #require(Self.tileDirectory)
        let codec = try TileCodec(maximumTileBytes: 256 * 256 * 4)
        var classes: [String: (raw: Int, stored: Int, references: [Int])] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            guard
                let format: TilePixelFormat = name.hasSuffix(".rgba")
                    ? .rgba8 : name.hasSuffix(".f32") ? .float32 : nil,
                let data = FileManager.default.contents(atPath: directory + "/" + name)
            else { continue }
            let pixels = [UInt8](data)
            var stored = pixels.count
            switch codec.compress(pixels, 256, 256, format) {
            case .solid: stored = 8
            case .block(let block): stored = block.count
            case .raw: break
            }
            let references = format == .rgba8 ? Self.pictures(pixels) : Self.elevation(pixels)
            let key = name.split(separator: "_").dropLast().joined(separator: "_")
            let sum = classes[key] ?? (0, 0, references.map { _ in 0 })
            classes[key] = (sum.raw + pixels.count, sum.stored + stored, zip(sum.references, references).map(+))
        }
        #expect(!classes.isEmpty)
        for (name, sums) in classes.sorted(by: { $0.key < $1.key }) {
            let best = try #require(sums.references.min())
            let relative = Double(best) / Double(sums.stored)
            #expect(relative >= 0.97, "\(name): \(relative) of the best filter's ratio")
        }
    }

    // MARK: Reference filters, written plainly

    private static func compressed(_ bytes: [UInt8]) -> Int {
        var target = [UInt8](repeating: 0, count: Int(LZ4_compressBound(Int32(bytes.count))))
        let size = bytes.withUnsafeBytes { source in
            target.withUnsafeMutableBytes { target in
                LZ4_compress_default(
                    source.baseAddress?.assumingMemoryBound(to: CChar.self),
                    target.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(source.count),
                    Int32(target.count)
                )
            }
        }
        return min(Int(size), bytes.count)
    }

    /// Alone; green + up + planes.
    private static func pictures(_ pixels: [UInt8]) -> [Int] {
        var filtered = pixels
        for at in stride(from: 0, to: pixels.count, by: 4) {
            filtered[at] &-= pixels[at + 1]
            filtered[at + 2] &-= pixels[at + 1]
        }
        return [compressed(pixels), compressed(planes(up(filtered, &-)))]
    }

    /// Alone; planes; up, xor with the row above, and gradient, each by bytes and with planes.
    private static func elevation(_ pixels: [UInt8]) -> [Int] {
        let vertical = up(pixels, &-)
        var gradient = vertical
        for at in pixels.indices where at % 1024 >= 4 { gradient[at] = vertical[at] &- vertical[at - 4] }
        return [pixels, planes(pixels), planes(vertical), planes(up(pixels, ^)), planes(gradient)].map(compressed)
    }

    private static func up(_ pixels: [UInt8], _ difference: (UInt8, UInt8) -> UInt8) -> [UInt8] {
        pixels.indices.map { $0 < 1024 ? pixels[$0] : difference(pixels[$0], pixels[$0 - 1024]) }
    }

    private static func planes(_ pixels: [UInt8]) -> [UInt8] {
        (0..<4).flatMap { plane in stride(from: plane, to: pixels.count, by: 4).map { pixels[$0] } }
    }
}
