/// A tiled picture of a TIFF file, as far as it takes to tell a level from other pictures.
struct TIFFPage {
    let directory: TIFFDirectory
    let width: Int
    let height: Int
    /// Whether it is one of the `SubIFDs` of the first picture.
    let isChild: Bool
    /// `NewSubfileType`: 1 a smaller version, 2 a page, 4 a mask.
    private let kind: Int
    private let number: Int?

    /// - Returns: `nil` if the directory has no tiles.
    init?(_ directory: TIFFDirectory, isChild: Bool = false, _ bytes: inout TIFFBytes) throws(TileSourceError) {
        guard TIFFLevel.isTiled(directory) else { return nil }
        (self.directory, self.isChild) = (directory, isChild)
        (width, height) = try TIFFLevel.size(directory, &bytes)
        kind = try directory.number(.newSubfileType, 0...Int(UInt32.max), default: 0, &bytes)
        number =
            kind & 2 == 0
            ? nil : try directory.numbers(.pageNumber, atMost: 16, &bytes)?.first.map { Int(clamping: $0) }
    }

    var isMask: Bool { kind & 4 != 0 }
    /// Whether it is marked as a smaller version of another picture.
    var isReduced: Bool { kind & 1 != 0 }

    /// Whether both are the same numbered page: ImageMagick numbers the levels of a picture so.
    func isSamePage(as other: TIFFPage) -> Bool { number != nil && number == other.number }

    /// Whether it is a page with another number.
    func isOtherPage(than other: TIFFPage) -> Bool { number ?? 0 != other.number ?? 0 }

    /// What levels of one picture have in common.
    struct Samples: Equatable {
        let count: Int
        let bits: Int
        let format: Int
        let colours: Int

        var summary: String { "\(count) sample\(count == 1 ? "" : "s") of \(bits) bits" }
    }

    /// Reads what the levels of one picture have in common.
    func samples(_ bytes: inout TIFFBytes) throws(TileSourceError) -> Samples {
        let count = try directory.number(.samplesPerPixel, 1...65_535, default: 1, &bytes)
        let colours = try directory.number(.photometricInterpretation, 0...65_535, default: 0, &bytes)
        let format = try directory.number(.sampleFormat, 0...65_535, default: 1, &bytes)
        return Samples(
            count: count,
            bits: try directory.number(.bitsPerSample, 0...65_535, default: 1, &bytes),
            format: format == 4 ? 1 : format,
            // Three bands, red, green and blue, and YCbCr are drawn alike: overviews may have another compression.
            // GDAL gives overviews of a scan whose white is 0 a palette.
            colours: count >= 3 && [1, 2, 6].contains(colours) ? 2 : colours == 0 ? 3 : colours
        )
    }
}
