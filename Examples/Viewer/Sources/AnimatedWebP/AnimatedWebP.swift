import CWebPAnimation

/// An error of the encoder, as text.
public struct AnimatedWebPError: Error, CustomStringConvertible {
    /// What failed, and why.
    public let description: String
}

/// Writes pictures of equal size as an animated WebP that repeats forever.
///
/// - Note: Not safe for use by two threads at once.
public final class AnimatedWebP {
    /// Maximum width and height in pixels.
    public static let largestSide = 16_383

    private let encoder: OpaquePointer
    private let width: Int
    private let height: Int
    private var config = WebPConfig()
    private var latest: Int32 = -1

    /// Starts an animation.
    ///
    /// - Parameters:
    ///   - width: Columns, 1 to ``largestSide``.
    ///   - height: Rows, 1 to ``largestSide``.
    ///   - quality: 0 to 100. Default: 60.
    /// - Throws: ``AnimatedWebPError`` if a number is out of its range or memory is short.
    public init(width: Int, height: Int, quality: Float = 60) throws {
        guard (1...Self.largestSide).contains(width), (1...Self.largestSide).contains(height) else {
            throw AnimatedWebPError(
                description: "1 to \(Self.largestSide) columns and rows were expected, not \(width)x\(height)"
            )
        }
        var options = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&options) != 0, WebPConfigInit(&config) != 0 else {
            throw AnimatedWebPError(description: "libwebp has another version than its headers")
        }
        // Whichever of lossless and lossy is smaller.
        options.allow_mixed = 1
        options.kmin = 9
        options.kmax = 60
        config.quality = quality
        guard WebPValidateConfig(&config) != 0 else {
            throw AnimatedWebPError(description: "a quality of 0 to 100 was expected, not \(quality)")
        }
        guard let encoder = WebPAnimEncoderNew(Int32(width), Int32(height), &options) else {
            throw AnimatedWebPError(description: "no memory for pictures of \(width)x\(height)")
        }
        (self.encoder, self.width, self.height) = (encoder, width, height)
    }

    deinit { WebPAnimEncoderDelete(encoder) }

    /// Adds a picture.
    ///
    /// - Parameters:
    ///   - rgba: Four bytes a pixel, rows packed, from the top. Alpha is ignored.
    ///   - milliseconds: Time at which it is shown, later than that of the picture before.
    /// - Throws: ``AnimatedWebPError`` if the size or the time is wrong, or memory is short.
    public func add(rgba: [UInt8], at milliseconds: Int) throws {
        guard rgba.count == width * height * 4 else {
            throw AnimatedWebPError(description: "\(width * height * 4) bytes were expected, not \(rgba.count)")
        }
        guard let time = Int32(exactly: milliseconds), time > latest else {
            throw AnimatedWebPError(description: "a time after \(latest) ms was expected, not \(milliseconds)")
        }
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else {
            throw AnimatedWebPError(description: "libwebp has another version than its headers")
        }
        defer { WebPPictureFree(&picture) }
        picture.use_argb = 1
        (picture.width, picture.height) = (Int32(width), Int32(height))
        let isRead = rgba.withUnsafeBufferPointer { WebPPictureImportRGBX(&picture, $0.baseAddress, Int32(width * 4)) }
        guard isRead != 0, WebPAnimEncoderAdd(encoder, &picture, time, &config) != 0 else { throw failure() }
        latest = time
    }

    /// Ends the animation. Nothing can be added afterwards.
    ///
    /// - Parameter milliseconds: End of the last picture.
    /// - Returns: The file.
    /// - Throws: ``AnimatedWebPError`` if there is no picture, the end is not after it, or memory is short.
    public func finish(at milliseconds: Int) throws -> [UInt8] {
        guard latest >= 0, let time = Int32(exactly: milliseconds), time > latest else {
            throw AnimatedWebPError(description: "an end after \(latest) ms, and a picture before it, were expected")
        }
        var file = WebPData()
        defer { WebPDataClear(&file) }
        guard WebPAnimEncoderAdd(encoder, nil, time, nil) != 0, WebPAnimEncoderAssemble(encoder, &file) != 0 else {
            throw failure()
        }
        return Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
    }

    private func failure() -> AnimatedWebPError {
        let text = WebPAnimEncoderGetError(encoder).map { String(cString: $0) } ?? ""
        return AnimatedWebPError(description: text.isEmpty ? "the picture could not be encoded" : text)
    }
}
