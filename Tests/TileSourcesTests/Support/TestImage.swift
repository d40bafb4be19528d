import CTileJPEG
import CTilePNG
import CTileWebP
import TestSupport

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
        pixels = RGBAPixels.gradients(width: width, height: height, seed: seed, hasAlpha: hasAlpha)
    }

    init(width: Int, height: Int, pixels: [UInt8]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// A part; zeros outside the image.
    func part(x: Int, y: Int, width: Int, height: Int) -> TestImage {
        let own = (self.width, self.height)
        let part = RGBAPixels.part(of: pixels, own, x: x, y: y, width: width, height: height)
        return TestImage(width: width, height: height, pixels: part)
    }

    /// Takes one pixel of `factor` in each direction, from the first.
    func thinned(by factor: Int) -> TestImage {
        let pixels = RGBAPixels.thinned(pixels, (width, height), by: factor)
        return TestImage(width: (width - 1) / factor + 1, height: (height - 1) / factor + 1, pixels: pixels)
    }

    /// Colours multiplied by alpha, rounded to the nearest.
    var premultiplied: TestImage {
        TestImage(width: width, height: height, pixels: RGBAPixels.premultiplied(pixels))
    }

    static func == (one: TestImage, other: TestImage) -> Bool {
        one.width == other.width && one.height == other.height && one.pixels.equals(other.pixels)
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
