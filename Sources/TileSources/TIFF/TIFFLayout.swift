import CTileImages

/// How samples of a TIFF are encoded, and which of them are drawn.
struct TIFFLayout: Sendable {
    var isLittle: Bool
    var bits: Int
    /// 1 for whole numbers, 2 for those with a sign, 3 for numbers with a point.
    var sampleFormat: Int
    var samples: Int
    var compression: Int
    var photometric: Int
    var predictor: Int
    var isPlanar: Bool
    /// Order of the bits in a byte of what is encoded: 1 the highest first, 2 the lowest first.
    var fillOrder: Int
    private let codec: TIFFCodec
    /// Fields that decoders need, as they are in the file.
    private(set) var own: [TIFFField]
    /// The samples of a pixel that become grey, colours, inks or the code of a palette.
    let drawn: [Int]
    /// The sample that is alpha.
    let alphaSample: Int?
    /// The planes that are read: one if all samples are together.
    let planes: [Int]
    private let isMultiplied: Bool

    /// What alpha is in decoded pixels. If the file has none, all but those of a WebP are opaque already.
    var alpha: DecodedAlpha {
        if alphaSample != nil { return isMultiplied ? .multiplied : .straight }
        return compression == 50001 ? .unused : .straight
    }

    /// Whether tiles are files of their own, JPEG or WebP, which are decoded without libtiff.
    var isOfImages: Bool { codec.decoder == .images && (compression != 7 || !isPlanar && [1, 3].contains(samples)) }

    /// Whether tiles are JPEG 2000, and whether of YCbCr: the colours of slides are, whatever their directory says.
    var isJPEG2000: Bool { codec.decoder == .openJPEG }
    var isYCC: Bool { isJPEG2000 && samples == 3 && !isPlanar && (compression == 33003 || photometric == 6) }

    /// Whether libtiff makes red, green and blue of the samples: of YCbCr and CIELab.
    var isConverted: Bool { !isOfImages && !isJPEG2000 && [6, 8].contains(photometric) }

    /// Whether a decoder fills all of a tile, or fails.
    var fillsAll: Bool { codec.fillsAll }

    /// Whether samples are numbers that become shades, by a range.
    var hasRange: Bool { !isOfImages && !isYCC && photometric < 3 }

    /// Memory of its own that the decoder of a tile takes: OpenJPEG decodes to numbers of 32 bits.
    func ownBytes(_ width: Int, _ height: Int) -> Int {
        isJPEG2000 ? 4 * (isPlanar ? 1 : samples) * width * height : 0
    }

    /// Bytes of a row of decoded samples.
    func rowBytes(_ width: Int, samples: Int) -> Int { (width * samples * bits + 7) / 8 }
}

extension TIFFLayout {
    /// Colours that are refused, by their photometric interpretation.
    private static let colours: [Int: String] = [
        4: "a mask", 9: "ICCLab", 10: "ITULab", 32803: "a sensor's colours", 32844: "LogL", 32845: "LogLuv",
    ]
    /// Maximum number of samples of a pixel.
    private static let mostSamples = 4096
    private static let colourTags: [TIFFTag] = [.yCbCrCoefficients, .yCbCrSubSampling, .referenceBlackWhite]

    /// Reads how a directory's samples are encoded; refuses what cannot be drawn.
    ///
    /// - Parameters:
    ///   - bands: Numbers of the samples that are drawn, from 1; empty for those that the directory states.
    ///   - isMask: Whether it marks the pixels of another picture.
    init(
        _ directory: TIFFDirectory,
        isLittle: Bool,
        bands: [Int] = [],
        isMask: Bool = false,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) {
        self.isLittle = isLittle
        (samples, bits, sampleFormat) = try Self.samples(directory, &bytes)
        compression = try directory.number(.compression, 1...65_535, default: 1, &bytes)
        codec = try TIFFCodec.of(compression, bytes.name)
        let stated = try directory.number(.photometricInterpretation, 0...65_535, &bytes)
        // Inks that are chosen are drawn as numbers. A mask is white where there are data.
        photometric = isMask && stated == 4 || !bands.isEmpty && [2, 5].contains(stated) ? 1 : stated
        isPlanar = try directory.number(.planarConfiguration, 1...2, default: 1, &bytes) == 2 && samples > 1
        predictor = try directory.number(.predictor, 1...3, default: 1, &bytes)
        let extras = try directory.numbers(.extraSamples, atMost: Self.mostSamples, &bytes) ?? []
        // They are the last ones. Colours are none of them, whatever the field says.
        let base = samples - extras.count
        let (count, needed) = (samples, Self.colourCount(stated))
        let alpha = extras.indices.first {
            [1, 2].contains(extras[$0]) && base + $0 >= max(needed, 1) && !bands.contains(base + $0 + 1)
        }
        let alphaSample = alpha.map { base + $0 }
        (self.alphaSample, isMultiplied) = (alphaSample, alpha.map { extras[$0] == 1 } ?? false)
        let others = (0..<count).filter { $0 != alphaSample }
        drawn =
            switch stated {
            case _ where !bands.isEmpty: bands.map { $0 - 1 }
            case 3: [0, 0, 0]
            case 5: Array(others.prefix(4))
            default: others.count >= 3 ? Array(others.prefix(3)) : Array(others.prefix(1))
            }
        planes = isPlanar ? Set(drawn + (alphaSample.map { [$0] } ?? [])).sorted() : [0]
        own = []
        fillOrder = 1
        if codec.decoder == .libtiff {
            fillOrder = try directory.number(.fillOrder, 1...2, default: 1, &bytes)
        }
        if !isOfImages, !isJPEG2000 {
            let colours = photometric == 6 ? Self.colourTags : photometric == 8 ? [.whitePoint] : []
            for tag in codec.fields + colours {
                if let field = try directory.copy(tag, atMost: 1 << 16, &bytes) { own.append(field) }
            }
        }
        try checkColours(bytes.name)
        try check(bands, bytes.name)
    }

    private func check(_ bands: [Int], _ path: String) throws(TileSourceError) {
        guard let last = bands.max() else { return }
        guard last <= samples else {
            let bands = samples == 1 ? "band 1 was" : "bands 1 to \(samples) were"
            throw TileSourceError(path, "\(bands) expected, not \(last): its pixels have no more samples")
        }
        guard !isOfImages, !isYCC, [0, 1].contains(photometric) else {
            throw TileSourceError(
                path,
                "bands can be chosen of grey, of red, green and blue and of inks, but not of a palette, YCbCr, CIELab or of "
                    + "tiles that are JPEG or WebP files"
            )
        }
    }

    private static func colourCount(_ photometric: Int) -> Int { [2: 3, 5: 4, 6: 3, 8: 3][photometric] ?? 1 }

    private static func samples(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> (samples: Int, bits: Int, sampleFormat: Int) {
        let samples = try directory.number(.samplesPerPixel, 1...mostSamples, default: 1, &bytes)
        let bits = try directory.numbers(.bitsPerSample, atMost: mostSamples, &bytes) ?? [1]
        let formats = try directory.numbers(.sampleFormat, atMost: mostSamples, &bytes) ?? [1]
        guard let depth = bits.first, bits.allSatisfy({ $0 == depth }),
            let format = formats.first.map({ $0 == 4 ? 1 : $0 }), formats.allSatisfy({ $0 == formats[0] }),
            (1...2).contains(format) && ((1...32).contains(depth) || depth == 64)
                || format == 3 && [16, 32, 64].contains(depth)
        else {
            throw TileSourceError(
                bytes.name,
                "samples of one kind were expected, of 1 to 32 or 64 bits, or of 16, 32 or 64 with a point, not \(samples) of "
                    + "\(Array(bits.prefix(8))) bits in the format \(Array(formats.prefix(8)))"
            )
        }
        return (samples, Int(depth), Int(format))
    }

    private func checkColours(_ path: String) throws(TileSourceError) {
        // What JPEG makes of YCbCr is red, green and blue. Three bands of unknown meaning, which GDAL writes unless they
        // have 8 bits, are drawn as such, too.
        let isKnown =
            isOfImages
            ? samples == 1 ? photometric == 1 : [1, 2].contains(photometric) || photometric == 6 && compression == 7
            : [0, 1, 2, 3, 5, 6, 8].contains(photometric)
        guard isKnown, samples >= Self.colourCount(photometric) else {
            let name = Self.colours[photometric].map { "\($0), " } ?? ""
            throw TileSourceError(
                path,
                "grey, red, green and blue, a palette, CMYK, YCbCr or CIELab were expected, not \(name)the photometric "
                    + "interpretation \(photometric) with \(samples) samples"
            )
        }
        guard photometric != 3 || sampleFormat == 1 && bits <= 16 else {
            throw TileSourceError(path, "whole numbers of 1 to 16 bits were expected as codes of a palette")
        }
        guard !isConverted || bits == 8 && sampleFormat == 1 && samples == 3 && !isPlanar else {
            throw TileSourceError(
                path,
                "YCbCr or CIELab of 3 samples of 8 bits in one tile was expected, not \(samples) samples of \(bits) bits"
                    + (isPlanar ? " in planes" : "")
            )
        }
        guard !isJPEG2000 || [8, 16].contains(bits) && sampleFormat == 1 && photometric != 8 && (!isYCC || bits == 8)
        else {
            throw TileSourceError(
                path,
                "JPEG 2000 of samples of 8 or 16 bits without a sign was expected, not of \(bits) bits in the format "
                    + "\(sampleFormat)"
            )
        }
        let isWebP = compression == 50001
        guard !isWebP && compression != 7 || bits == 8 && (!isWebP || !isPlanar && (3...4).contains(samples)) else {
            throw TileSourceError(
                path,
                "JPEG, or WebP of 3 or 4 samples in one tile, was expected, with 8 bits, not \(samples) samples of \(bits) "
                    + "bits\(isPlanar ? " in planes" : "")"
            )
        }
    }

    /// Reads the colours of a palette, of 8 bits each: all reds, then greens and blues.
    func palette(_ directory: TIFFDirectory, _ bytes: inout TIFFBytes) throws(TileSourceError) -> [UInt8] {
        guard photometric == 3 else { return [] }
        let values = try directory.numbers(.colorMap, atMost: 3 << 16, &bytes) ?? []
        guard values.count == 3 << bits else {
            throw TileSourceError(
                bytes.name,
                "ColorMap: \(3 << bits) numbers were expected for codes of \(bits) bits, not \(values.count)"
            )
        }
        // Some writers state 8 bits, as libtiff knows.
        let isSmall = values.allSatisfy { $0 < 256 }
        return values.map { UInt8(truncatingIfNeeded: isSmall ? $0 : $0 >> 8) }
    }
}

extension TIFFLayout {
    /// Where a sample is in decoded rows: its row, bits, the samples from one pixel to the next, and its place in a pixel.
    ///
    /// - Parameter rows: By plane of ``planes``.
    func place(of sample: Int, _ rows: [UnsafePointer<UInt8>]) -> (UnsafePointer<UInt8>, Int32, Int, Int) {
        guard isPlanar else { return (rows[0], Int32(bits), samples, sample) }
        return (rows[planes.firstIndex(of: sample) ?? 0], Int32(bits), 1, 0)
    }

    /// Reads the numbers of the drawn samples of a row, of every so many pixels.
    func numbers(_ rows: [UnsafePointer<UInt8>], _ width: Int, every: Int) -> [Double] {
        Set(drawn).flatMap { sample in
            let (samples, bits, step, first) = place(of: sample, rows)
            let count = (width - 1) / every + 1
            return [Double](unsafeUninitializedCapacity: count) { numbers, length in
                ti_numbers(samples, bits, Int32(sampleFormat), step * every, first, count, numbers.baseAddress)
                length = count
            }
        }
    }
}
