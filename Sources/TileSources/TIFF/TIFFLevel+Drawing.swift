import TileCache

extension TIFFLevel {
    /// Part of the tile's image that lies within the level, and what its fourth channel is.
    func placement(_ tile: TileCoordinate) -> ImagePlacement {
        var place = ImagePlacement(
            imageWidth: tileWidth,
            imageHeight: tileHeight,
            x: 0,
            y: 0,
            width: min(tileWidth, width - tile.column * tileWidth),
            height: min(tileHeight, height - tile.row * tileHeight)
        )
        // Some writers cut JPEGs at the image's edges instead of filling the tile; libtiff reads them, too.
        place.mayEndEarly = true
        place.alpha = layout.alpha
        return place
    }

    /// Repeats the last column and row of a tile where the level ends a part of a pixel before the world does.
    func fill(_ tile: TileCoordinate, _ pixels: inout TilePixels) {
        func ends(_ index: Int, _ tile: Int, _ length: Int, _ drawn: Int) -> (written: Int, drawn: Int) {
            (min(tile, length - index * tile), min(tile, drawn - index * tile))
        }
        let across = ends(tile.column, tileWidth, width, drawnWidth)
        let down = ends(tile.row, tileHeight, height, drawnHeight)
        guard across.drawn > across.written || down.drawn > down.written else { return }
        let (stride, pixel) = (pixels.bytesPerRow, pixels.bytesPerRow / max(pixels.width, 1))
        pixels.withUnsafeMutableBytes { target in
            guard let first = target.baseAddress else { return }
            for y in 0..<down.written {
                let end = first + y * stride + across.written * pixel
                for column in 0..<max(across.drawn - across.written, 0) {
                    (end + column * pixel).copyMemory(from: end - pixel, byteCount: pixel)
                }
            }
            for y in down.written..<max(down.drawn, down.written) {
                (first + y * stride).copyMemory(from: first + (down.written - 1) * stride, byteCount: stride)
            }
        }
    }
}

/// Makes pixels of a level's encoded tiles.
struct TIFFDrawer: Sendable {
    let level: TIFFLevel
    private let decoder: TIFFTile
    private let delivery: TileDelivery
    private let options: TileSourceOptions

    init(_ level: TIFFLevel, _ options: TileSourceOptions, _ delivery: TileDelivery) {
        (self.level, self.options, self.delivery) = (level, options, delivery)
        decoder = TIFFTile(level, options, delivery.scratch)
    }

    /// Decodes a tile, and keeps what is a file of its own.
    ///
    /// - Parameters:
    ///   - planes: Its encoded bytes, those of its mask at the end.
    ///   - tile: Its column and row in the level.
    func write(
        _ planes: [RangeBytes],
        _ colours: TIFFColours,
        _ tile: TileCoordinate,
        _ subject: String,
        _ pixels: inout TilePixels
    ) -> TileFailure? {
        do throws(TileLoadFailure) {
            var mask: TIFFMask?
            if let own = level.mask.first, let bytes = planes.last { mask = try TIFFMask(own, bytes, delivery.scratch) }
            if level.isOfImages {
                let failure = level.file(planes[0]).withBytes {
                    write(UnsafeRawBufferPointer($0), mask, tile, subject, &pixels)
                }
                if failure == nil { level.fill(tile, &pixels) }
                return failure
            }
            let (place, count) = (level.placement(tile), level.layout.planes.count)
            let own = Array(planes.prefix(count))
            try decoder.decode(own, colours, mask: mask, width: place.width, height: place.height, into: &pixels)
            level.fill(tile, &pixels)
            return nil
        } catch {
            return delivery.counted(error, of: subject)
        }
    }

    /// Decodes a tile that is a file of its own. The cache keeps its bytes if they show all of it.
    private func write(
        _ file: UnsafeRawBufferPointer,
        _ mask: TIFFMask?,
        _ tile: TileCoordinate,
        _ subject: String,
        _ pixels: inout TilePixels
    ) -> TileFailure? {
        let place = level.placement(tile)
        guard let mask else { return delivery.write(file, place, of: subject, into: &pixels) }
        do throws(TileFailure) { try delivery.decode(file, place, of: subject, into: &pixels) } catch { return error }
        let premultiplies = options.alpha == .premultiplied
        let isOpaque = mask.apply(
            width: place.width,
            height: place.height,
            premultiplies: premultiplies,
            to: &pixels
        )
        if isOpaque, options.keepsEncoded { pixels.keepEncoded(file) }
        return nil
    }
}
