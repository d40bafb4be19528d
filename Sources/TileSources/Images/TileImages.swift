import CTileImages
import TileCache

/// Place of a tile's pixels in an image, and what the image's fourth channel is.
struct ImagePlacement: Hashable {
    /// Required width of the whole image.
    var imageWidth: Int
    var imageHeight: Int
    /// The part that is drawn, at the tile's top left corner. The rest of the tile is zeros.
    var x = 0
    var y = 0
    var width: Int
    var height: Int
    /// Pixels by which the image's sides may differ. What is missing is repeated from the last pixel.
    var tolerance = 0
    /// Height that the image may have instead, but for the tolerance. Its rows are then spread over the tile.
    var otherHeight: Int?
    /// Whether the image may end where the drawn part does, to the right, below or both.
    var mayEndEarly = false
    /// Other than straight only without a tolerance: rows are then written once.
    var alpha = DecodedAlpha.straight
    /// Whether an image of another size and the same shape is scaled. Only for whole images.
    var mayBeScaled = false

    /// The whole image is the tile. Sets of tiles may have some of another size, which are scaled.
    init(tileSize: Int) { self.init(tileWidth: tileSize, tileHeight: tileSize) }

    /// Tolerance for tiles at the picture's edge: writers round their sides in different ways.
    static let edgeTolerance = 1

    /// The whole image is the tile.
    init(tileWidth: Int, tileHeight: Int) {
        (imageWidth, imageHeight, width, height) = (tileWidth, tileHeight, tileWidth, tileHeight)
        mayBeScaled = true
    }

    init(imageWidth: Int, imageHeight: Int, x: Int, y: Int, width: Int, height: Int, tolerance: Int = 0) {
        (self.imageWidth, self.imageHeight, self.x, self.y) = (imageWidth, imageHeight, x, y)
        (self.width, self.height, self.tolerance) = (width, height, tolerance)
    }

    /// The same of an image that ends early, if it may.
    func ended(at width: Int, _ height: Int) -> ImagePlacement {
        var place = self
        if mayEndEarly, width == x + self.width { place.imageWidth = width }
        if mayEndEarly, height == y + self.height { place.imageHeight = height }
        return place
    }

    /// Whether an image of this size is the expected one.
    func allows(_ width: Int, _ height: Int) -> Bool {
        guard abs(width - imageWidth) <= tolerance else { return false }
        return hasOwnRows(height) || abs(height - (otherHeight ?? imageHeight)) <= tolerance
    }

    /// Whether an image of this size is all that is drawn.
    func isWhole(_ width: Int, _ height: Int) -> Bool {
        (x, y) == (0, 0) && (imageWidth, imageHeight) == (width, height) && (self.width, self.height) == (width, height)
    }

    /// Whether each row of an image is one of the tile's.
    func hasOwnRows(_ height: Int) -> Bool { abs(height - imageHeight) <= tolerance }
}

/// Decodes the images of tiles: PNG, JPEG and WebP, recognized by their first bytes.
struct TileImages: Sendable {
    private let writer: TilePixelWriter
    private let bytesPerPixel: Int
    private let weighsAlpha: Bool

    /// Maximum memory of a decoder for an image that it can only decode as a whole. That of the largest tile, twice.
    private static let limit: UInt64 = 1 << 28

    init(_ options: TileSourceOptions) {
        writer = TilePixelWriter(options)
        bytesPerPixel = options.format.bytesPerPixel ?? 4
        weighsAlpha = options.alpha != .ignored
    }

    /// Decodes an image into a tile. A transparent image of another size than the tile's makes a transparent tile, as one
    /// of the tile's size does.
    ///
    /// A whole image is decoded where its pixels stay, unless they are grey. A lossless WebP still takes 4 bytes a pixel,
    /// and a progressive JPEG its coefficients. Other images take a row, a few rows if they are scaled, and 8 bytes a pixel
    /// if their format cannot be decoded by rows.
    ///
    /// - Returns: The image's width if it was scaled; otherwise `nil`.
    @discardableResult
    func decode(
        _ encoded: UnsafeRawBufferPointer,
        _ place: ImagePlacement,
        into pixels: inout TilePixels
    ) throws(TileLoadFailure) -> Int? {
        let (width, height, bytesPerRow) = (pixels.width, pixels.height, pixels.bytesPerRow)
        guard place.width <= width, place.height <= height, bytesPerRow == width * bytesPerPixel else {
            throw TileLoadFailure(.wrongSize, "the layer's tiles are of another size or format than the source's")
        }
        var side: Int?
        let failure = pixels.withUnsafeMutableBytes { target -> TileLoadFailure? in
            Self.failure(of: {
                decode(encoded, place, into: target, bytesPerRow: bytesPerRow, scaledFrom: &side, error: &$0)
            })
        }
        if let failure { throw failure }
        return side
    }

    /// Reads the size of an image from its header.
    static func size(of encoded: UnsafeRawBufferPointer) -> Result<(width: Int, height: Int), TileLoadFailure> {
        var info = ti_info()
        let failure = failure(of: { error in
            let bytes = encoded.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let reader = ti_open_memory(bytes, encoded.count, &info, &error)
            ti_close(reader)
            return reader == nil ? error.status : ti_ok
        })
        return failure.map { .failure($0) } ?? .success((Int(info.width), Int(info.height)))
    }

    private func decode(
        _ encoded: UnsafeRawBufferPointer,
        _ place: ImagePlacement,
        into target: UnsafeMutableRawBufferPointer,
        bytesPerRow: Int,
        scaledFrom side: inout Int?,
        error: inout ti_error
    ) -> ti_status {
        var info = ti_info()
        let bytes = encoded.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let reader = ti_open_memory(bytes, encoded.count, &info, &error) else { return error.status }
        defer { ti_close(reader) }
        let (wide, high) = (Int(info.width), Int(info.height))
        let place = place.ended(at: wide, high)
        guard place.allows(wide, high) else {
            if Self.isClear(encoded) {
                target.initializeMemory(as: UInt8.self, repeating: 0)
                return ti_ok
            }
            if place.mayBeScaled, ScaledRows.allows(wide, high, as: place.width, place.height) {
                side = wide
                return scaled(reader, wide, high, place, into: target, bytesPerRow: bytesPerRow, error: &error)
            }
            let found = "\(wide) x \(high)"
            error.set("an image of \(place.imageWidth) x \(place.imageHeight) pixels was expected, not \(found)")
            return Self.wrongSize
        }
        if writer.isDirect, place.isWhole(wide, high) {
            let isOpaque = info.format == ti_jpeg
            return direct(reader, place, isOpaque: isOpaque, into: target, bytesPerRow: bytesPerRow, error: &error)
        }
        return byRows(reader, wide, high, place, into: target, bytesPerRow: bytesPerRow, error: &error)
    }

    /// Decodes an image that is all that is drawn, without a copy of its pixels.
    ///
    /// - Parameter isOpaque: Whether no pixel needs more than its decoder.
    private func direct(
        _ reader: OpaquePointer,
        _ place: ImagePlacement,
        isOpaque: Bool,
        into target: UnsafeMutableRawBufferPointer,
        bytesPerRow: Int,
        error: inout ti_error
    ) -> ti_status {
        guard let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return ti_ok }
        ti_aim(reader, writer.layout, start, bytesPerRow)
        var status = ti_start(reader, Self.limit, &error)
        if status == ti_ok { status = ti_rows(reader, &error) }
        guard status == ti_ok else { return status }
        let written = place.width * bytesPerPixel
        for line in 0..<place.height {
            let row = start + line * bytesPerRow
            if !isOpaque { writer.finish(row, place.width, alpha: place.alpha) }
            (row + written).initialize(repeating: 0, count: bytesPerRow - written)
        }
        Self.clear(target, from: place.height * bytesPerRow)
        return ti_end(reader, &error)
    }

    /// Decodes an image of which a part is drawn, or whose last pixels are repeated.
    private func byRows(
        _ reader: OpaquePointer,
        _ wide: Int,
        _ high: Int,
        _ place: ImagePlacement,
        into target: UnsafeMutableRawBufferPointer,
        bytesPerRow: Int,
        error: inout ti_error
    ) -> ti_status {
        var status = ti_start(reader, Self.limit, &error)
        // libjpeg-turbo writes an aligned row past the processor's caches, from where it comes back slowly.
        let offset = 4
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(wide, place.imageWidth, 1) * 4 + offset,
            alignment: 32
        )
        defer { memory.deallocate() }
        let row = memory + offset
        let first = row.assumingMemoryBound(to: UInt8.self)
        var taken = 0
        /// Reads rows until there are as many. After the last one its row is there still.
        func take(_ count: Int) {
            while status == ti_ok, taken < min(count, high) {
                status = ti_row(reader, first, &error)
                taken += 1
                for column in wide..<max(wide, place.imageWidth) {
                    (row + 4 * column).copyMemory(from: row + 4 * (wide - 1), byteCount: 4)
                }
            }
        }
        let hasOwnRows = place.hasOwnRows(high)
        for line in 0..<place.imageHeight {
            take((hasOwnRows ? line : (2 * line + 1) * high / (2 * place.imageHeight)) + 1)
            guard status == ti_ok, line >= place.y, line < place.y + place.height,
                let start = target.baseAddress?.advanced(by: (line - place.y) * bytesPerRow)
            else { continue }
            let to = start.assumingMemoryBound(to: UInt8.self)
            writer.write(first + 4 * place.x, place.width, alpha: place.alpha, to: to)
            let written = place.width * bytesPerPixel
            let rest = bytesPerRow - written
            if rest > 0 { (start + written).initializeMemory(as: UInt8.self, repeating: 0, count: rest) }
        }
        take(high)
        guard status == ti_ok else { return status }
        Self.clear(target, from: place.height * bytesPerRow)
        return ti_end(reader, &error)
    }

    private static func clear(_ target: UnsafeMutableRawBufferPointer, from drawn: Int) {
        guard drawn < target.count else { return }
        UnsafeMutableRawBufferPointer(rebasing: target[drawn...]).initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Decodes a whole image and scales it to the tile.
    private func scaled(
        _ reader: OpaquePointer,
        _ wide: Int,
        _ high: Int,
        _ place: ImagePlacement,
        into target: UnsafeMutableRawBufferPointer,
        bytesPerRow: Int,
        error: inout ti_error
    ) -> ti_status {
        var status = ti_start(reader, Self.limit, &error)
        guard status == ti_ok, let start = target.baseAddress else { return status }
        // A closure that outlives this call may not capture parameters.
        var failure = ti_error()
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: 4 * place.width)
        defer { row.deallocate() }
        let rows = ScaledRows(
            width: wide,
            height: high,
            tileWidth: place.width,
            tileHeight: place.height,
            weighsAlpha: weighsAlpha,
            read: {
                status = ti_row(reader, $0, &failure)
                return status == ti_ok
            }
        )
        for line in 0..<place.height {
            guard rows.next(into: row) else {
                error = failure
                return status
            }
            let to = (start + line * bytesPerRow).assumingMemoryBound(to: UInt8.self)
            writer.write(row, place.width, to: to)
        }
        return ti_end(reader, &error)
    }

    /// Maximum pixels of an image of another size that is searched for one that shows: those of the largest tile.
    private static let mostClearPixels = 1 << 24

    /// Whether all pixels of an image are transparent. Some servers send such an image, of any size, for each tile that
    /// shows nothing.
    private static func isClear(_ encoded: UnsafeRawBufferPointer) -> Bool {
        var info = ti_info()
        var error = ti_error()
        let bytes = encoded.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let reader = ti_open_memory(bytes, encoded.count, &info, &error) else { return false }
        defer { ti_close(reader) }
        let (width, height) = (Int(info.width), Int(info.height))
        guard width > 0, height > 0, width <= mostClearPixels / height else { return false }
        guard ti_start(reader, limit, &error) == ti_ok else { return false }
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 4)
        defer { row.deallocate() }
        for _ in 0..<height {
            guard ti_row(reader, row, &error) == ti_ok else { return false }
            for pixel in 0..<width where row[4 * pixel + 3] != 0 { return false }
        }
        return ti_end(reader, &error) == ti_ok
    }

    private static let wrongSize = ti_status(rawValue: 100)

    static func failure(of body: (inout ti_error) -> ti_status) -> TileLoadFailure? {
        var error = ti_error()
        let status = body(&error)
        let cause: TileLoadFailureCause
        switch status {
        case ti_ok: return nil
        case ti_truncated: cause = .truncated
        case ti_too_large: cause = .tooLarge
        case ti_unreadable, ti_no_memory: cause = .unreadable
        case wrongSize: cause = .wrongSize
        default: cause = .undecodable
        }
        return TileLoadFailure(cause, error.text)
    }
}

extension ti_error {
    /// The message, as far as it is text.
    var text: String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    fileprivate mutating func set(_ text: String) {
        withUnsafeMutableBytes(of: &message) { bytes in
            let room = bytes.count - 1
            for (index, byte) in text.utf8.prefix(room).enumerated() { bytes[index] = byte }
            bytes[min(text.utf8.count, room)] = 0
        }
    }
}
