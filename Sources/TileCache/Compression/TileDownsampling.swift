import CTileKernels

/// How the cache averages four pixels to one for coarser levels.
///
/// Integers are rounded to the nearest, halves up. Straight colours are weighted with their alpha, so that invisible
/// colours do not contribute; premultiplied ones are averaged as they are.
public enum TileDownsampling: Hashable, Sendable {
    /// Averages values as stored: fast, and right for data. 16-bit values are unsigned. Half floats are not supported.
    case linear
    /// As ``linear``, but ``TilePixelFormat/gray16`` is signed, as for elevation.
    case linearSigned
    /// Averages sRGB colours as linear light. Keeps the weight of fine bright lines on dark ground. For formats of 8
    /// bits a channel only, and some ten times slower.
    case sRGB
}

/// Halves images of one pixel format.
package struct ImageHalver: Sendable {
    package let bytesPerPixel: Int
    private let mean: tk_mean

    /// Creates a halver; `nil` if the format cannot be averaged that way.
    package init?(format: TilePixelFormat, alpha: TileAlphaMode, downsampling: TileDownsampling) {
        guard let bytes = format.bytesPerPixel else { return nil }
        bytesPerPixel = bytes
        let isLight = downsampling == .sRGB
        switch (format, alpha) {
        case (.rgba8, .straight), (.bgra8, .straight):
            mean = isLight ? tk_mean_8x4_straight_gamma : tk_mean_8x4_straight
        case (.rgba8, .premultiplied), (.bgra8, .premultiplied):
            mean = isLight ? tk_mean_8x4_premultiplied_gamma : tk_mean_8x4
        case (.rgba8, .ignored), (.bgra8, .ignored): mean = isLight ? tk_mean_8x4_gamma : tk_mean_8x4
        case (.gray8, _): mean = isLight ? tk_mean_8_gamma : tk_mean_8
        case (.gray16, _) where !isLight: mean = downsampling == .linearSigned ? tk_mean_signed16 : tk_mean_16
        case (.rgba16, .straight) where !isLight: mean = tk_mean_16x4_straight
        case (.rgba16, _) where !isLight: mean = tk_mean_16x4
        case (.float32, _) where !isLight: mean = tk_mean_float
        default: return nil
        }
    }

    /// Halves an image by the automatic or by the portable path, for benchmarks.
    package func halve(
        _ pixels: UnsafeRawBufferPointer,
        width: Int,
        height: Int,
        into target: UnsafeMutableRawBufferPointer,
        isPortable: Bool
    ) {
        let (bytes, means) = (width * bytesPerPixel, (width + 1) / 2 * bytesPerPixel)
        guard let from = pixels.baseAddress, let to = target.baseAddress, width > 0, height > 0,
            pixels.count >= bytes * height, target.count >= means * ((height + 1) / 2)
        else { return }
        halve(
            from,
            stride: bytes,
            width: width,
            height: height,
            into: to,
            stride: means,
            path: isPortable ? tk_path_portable : tk_path_automatic
        )
    }

    /// Halves an image. Sizes are rounded up; beyond an odd edge the last column or row counts twice.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `width` pixels, `stride` bytes apart.
    ///   - target: Receives the half, with rows `targetStride` bytes apart; `pixels` itself with the same stride, or
    ///     memory that does not overlap.
    ///   - path: Default: the best that the processor supports.
    func halve(
        _ pixels: UnsafeRawPointer,
        stride: Int,
        width: Int,
        height: Int,
        into target: UnsafeMutableRawPointer,
        stride targetStride: Int,
        path: tk_path = tk_path_automatic
    ) {
        tk_halve(
            mean,
            path,
            SRGB.gamma,
            pixels.assumingMemoryBound(to: UInt8.self),
            stride,
            width,
            height,
            target.assumingMemoryBound(to: UInt8.self),
            targetStride
        )
    }
}

/// Transfer function of sRGB (IEC 61966-2-1) as tables.
private enum SRGB {
    /// Written once.
    nonisolated(unsafe) static let gamma: UnsafePointer<tk_gamma> = {
        // Slightly below 2^28, and such that the dark values, where light is proportional, are integers: means halfway
        // between two values are common there, and must not depend on a table's rounding.
        let brightest = 255 * 12.92 * 81_470
        let linear = (0..<256).map { UInt32((light(of: Double($0) / 255) * brightest).rounded()) }
        // A mean maps to the nearest encoded value: the bounds are halfway between values.
        let threshold = (0..<256).map { value -> UInt32 in
            value == 0 ? 0 : UInt32((4 * brightest * light(of: (Double(value) - 0.5) / 255) - 1e-6).rounded(.up))
        }
        let gamma = UnsafeMutablePointer<tk_gamma>.allocate(capacity: 1)
        tk_gamma_make(gamma, linear, threshold)
        return UnsafePointer(gamma)
    }()

    private static func light(of value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : PortableMath.pow((value + 0.055) / 1.055, 2.4)
    }
}
