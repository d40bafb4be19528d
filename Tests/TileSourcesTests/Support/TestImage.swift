import CTileJPEG
import CTilePNG
import CTileWebP

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Pixels of a test: red, green, blue and alpha. The system's libraries make files from them.
struct TestImage: Equatable {
    var width: Int
    var height: Int
    var pixels: [UInt8]

    /// Gradients, edges and noise that differ everywhere; partly transparent if `hasAlpha`.
    init(width: Int, height: Int, seed: Int = 0, hasAlpha: Bool = false) {
        self.width = width
        self.height = height
        pixels = []
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
    }

    init(width: Int, height: Int, pixels: [UInt8]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// A part; zeros outside the image.
    func part(x: Int, y: Int, width: Int, height: Int) -> TestImage {
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        for row in 0..<height where (0..<self.height).contains(y + row) {
            for column in 0..<width where (0..<self.width).contains(x + column) {
                let from = ((y + row) * self.width + x + column) * 4
                let to = (row * width + column) * 4
                for channel in 0..<4 { bytes[to + channel] = pixels[from + channel] }
            }
        }
        return TestImage(width: width, height: height, pixels: bytes)
    }

    /// Colours multiplied by alpha, rounded to the nearest.
    var premultiplied: TestImage {
        var copy = self
        for pixel in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[pixel + 3])
            for channel in 0..<3 {
                copy.pixels[pixel + channel] = UInt8((2 * Int(pixels[pixel + channel]) * alpha + 255) / 510)
            }
        }
        return copy
    }

    var png: [UInt8] {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        image.width = png_uint_32(width)
        image.height = png_uint_32(height)
        image.format = png_uint_32(PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR)
        var count = width * height * 5 + 10_000
        var bytes = [UInt8](repeating: 0, count: count)
        _ = png_image_write_to_memory(&image, &bytes, &count, 0, pixels, 0, nil)
        return Array(bytes.prefix(count))
    }

    func jpeg(quality: Int32 = 90, isProgressive: Bool = false) -> [UInt8] {
        var errors = jpeg_error_mgr()
        var jpeg = jpeg_compress_struct()
        return withUnsafeMutablePointer(to: &errors) { errors in
            jpeg.err = jpeg_std_error(errors)
            jpeg_CreateCompress(&jpeg, JPEG_LIB_VERSION, MemoryLayout<jpeg_compress_struct>.size)
            defer { jpeg_destroy_compress(&jpeg) }
            var bytes: UnsafeMutablePointer<UInt8>?
            var count: UInt = 0
            jpeg_mem_dest(&jpeg, &bytes, &count)
            jpeg.image_width = JDIMENSION(width)
            jpeg.image_height = JDIMENSION(height)
            jpeg.input_components = 4
            jpeg.in_color_space = JCS_EXT_RGBA
            jpeg_set_defaults(&jpeg)
            jpeg_set_quality(&jpeg, quality, boolean(1))
            if isProgressive { jpeg_simple_progression(&jpeg) }
            jpeg_start_compress(&jpeg, boolean(1))
            var copy = pixels
            copy.withUnsafeMutableBufferPointer { pixels in
                for row in 0..<height {
                    var line: JSAMPROW? = pixels.baseAddress! + row * width * 4
                    jpeg_write_scanlines(&jpeg, &line, 1)
                }
            }
            jpeg_finish_compress(&jpeg)
            defer { free(bytes) }
            return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
    }

    var webP: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = WebPEncodeLosslessRGBA(pixels, Int32(width), Int32(height), Int32(width * 4), &bytes)
        defer { WebPFree(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    func lossyWebP(quality: Float = 80) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = WebPEncodeRGBA(pixels, Int32(width), Int32(height), Int32(width * 4), quality, &bytes)
        defer { WebPFree(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
