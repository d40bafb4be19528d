import TileCache

/// Last step of all sources. Turns encoded bytes into a tile of the cache, and counts failures.
struct TileDelivery: Sendable {
    let counter = SourceCounter()
    /// Memory of files' bytes while they are decoded, and of what libtiff decodes.
    let scratch = ScratchMemory()
    private let images: TileImages
    private let keepsEncoded: Bool

    init(_ options: TileSourceOptions) {
        images = TileImages(options)
        keepsEncoded = options.keepsEncoded
    }

    var statistics: TileSourceStatistics { counter.statistics }

    /// Delivers the result of a tile's lookup. A tile of no bytes is absent.
    func deliver(
        _ contents: FileContents,
        _ place: ImagePlacement,
        of subject: String,
        into pixels: inout TilePixels
    ) throws(TileFailure) -> TileOutcome {
        counter.countLoad()
        switch contents {
        case .missing:
            counter.countAbsent(subject)
            return .absent
        case .failed(let failure): throw counted(failure, of: subject)
        case .bytes(let bytes) where bytes.memory.isEmpty:
            counter.countAbsent(subject)
            return .absent
        case .bytes(let bytes):
            // A closure that declares its error type crashes the compiler here.
            let failure = write(UnsafeRawBufferPointer(bytes.memory), place, of: subject, into: &pixels)
            withExtendedLifetime(bytes) {}
            if let failure { throw failure }
            return .pixels
        }
    }

    /// Counts a failure; returns what it tells the cache.
    func counted(_ failure: TileLoadFailure, of subject: String) -> TileFailure {
        counter.count(failure, of: subject)
        return failure.failure
    }

    /// Decodes a tile and passes its bytes to the cache.
    func write(
        _ encoded: UnsafeRawBufferPointer,
        _ place: ImagePlacement,
        of subject: String,
        into pixels: inout TilePixels
    ) -> TileFailure? {
        do {
            try decode(encoded, place, of: subject, into: &pixels)
        } catch {
            return error
        }
        if keepsEncoded { pixels.keepEncoded(encoded) }
        return nil
    }

    /// Decodes a tile.
    func decode(
        _ encoded: UnsafeRawBufferPointer,
        _ place: ImagePlacement,
        of subject: String,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        do {
            counter.countDecoded(scaledFrom: try images.decode(encoded, place, into: &pixels))
        } catch {
            throw counted(error, of: subject)
        }
    }
}
