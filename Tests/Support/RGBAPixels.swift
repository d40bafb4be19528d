/// Rows of pixels: red, green, blue and alpha of 8 bits. As `ByteLoops.swift`, for images.
package enum RGBAPixels {
    /// Gradients, edges and noise that differ everywhere; partly transparent if `hasAlpha`.
    package static func gradients(width: Int, height: Int, seed: Int, hasAlpha: Bool) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let noise = (x &* 7919 ^ y &* 104_729 ^ seed &* 1_299_709) >> 3 & 15
                pixels.append(UInt8(truncatingIfNeeded: x &* 3 &+ seed &* 40 &+ noise))
                pixels.append(UInt8(truncatingIfNeeded: y &* 2 &+ (x / 16) &* 20))
                pixels.append(UInt8(truncatingIfNeeded: (x &+ y) / 2 &+ seed &* 90))
                // No pixel is fully transparent: some programs drop the colours of such pixels.
                pixels.append(hasAlpha ? max(UInt8(truncatingIfNeeded: x &* y &+ seed), 1) : 255)
            }
        }
        return pixels
    }

    /// A part of an image of a size; zeros outside of it.
    package static func part(
        of pixels: [UInt8],
        _ size: (width: Int, height: Int),
        x: Int,
        y: Int,
        width: Int,
        height: Int
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        let columns = max(-x, 0)..<max(min(width, size.width - x), max(-x, 0))
        for row in 0..<height where (0..<size.height).contains(y + row) {
            for column in columns {
                let from = ((y + row) * size.width + x + column) * 4
                let to = (row * width + column) * 4
                for channel in 0..<4 { bytes[to + channel] = pixels[from + channel] }
            }
        }
        return bytes
    }

    /// One pixel of `factor` in each direction, from the first.
    package static func thinned(_ pixels: [UInt8], _ size: (width: Int, height: Int), by factor: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for y in stride(from: 0, to: size.height, by: factor) {
            for x in stride(from: 0, to: size.width, by: factor) {
                let from = (y * size.width + x) * 4
                bytes += pixels[from..<from + 4]
            }
        }
        return bytes
    }

    /// Colours multiplied by alpha, rounded to the nearest.
    package static func premultiplied(_ pixels: [UInt8]) -> [UInt8] {
        var copy = pixels
        for pixel in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[pixel + 3])
            for channel in 0..<3 {
                copy[pixel + channel] = UInt8((2 * Int(pixels[pixel + channel]) * alpha + 255) / 510)
            }
        }
        return copy
    }

    /// Opaque pixels of red, green and blue.
    package static func opaque(_ colours: [UInt8]) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(colours.count / 3 * 4)
        for pixel in stride(from: 0, to: colours.count, by: 3) { pixels += colours[pixel..<pixel + 3] + [255] }
        return pixels
    }

    /// Some channels of each pixel, each value as a sample of another depth.
    ///
    /// - Parameter samples: The sample of each of the 256 values.
    package static func samples(_ pixels: [UInt8], channels: [Int], as samples: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pixels.count / 4 * channels.count * (samples.first?.count ?? 0))
        for pixel in stride(from: 0, to: pixels.count, by: 4) {
            for channel in channels { bytes += samples[Int(pixels[pixel + channel])] }
        }
        return bytes
    }

    /// Whether two images look the same. A fully transparent decoded pixel matches any fully transparent pixel, and any
    /// pixel unless `knowsAlpha`.
    package static func showTheSame(_ pixels: [UInt8], _ decoded: [UInt8], knowsAlpha: Bool) -> Bool {
        for pixel in stride(from: 0, to: decoded.count, by: 4) {
            if decoded[pixel + 3] == 0, !knowsAlpha || pixels[pixel + 3] == 0 { continue }
            guard pixels[pixel..<pixel + 4] == decoded[pixel..<pixel + 4] else { return false }
        }
        return true
    }
}
