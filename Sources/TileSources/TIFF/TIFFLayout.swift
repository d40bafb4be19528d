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
    /// Fields that decoders need, as they are in the file.
    private(set) var own: [TIFFField]
    /// The samples of a pixel that become grey, colours, inks or the code of a palette.
    let drawn: [Int]
    /// The sample that is alpha.
    let alphaSample: Int?
    private let isMultiplied: Bool

    /// What alpha is in decoded pixels. If the file has none, all but those of a WebP are opaque already.
    var alpha: DecodedAlpha {
        if alphaSample != nil { return isMultiplied ? .multiplied : .straight }
        return compression == 50001 ? .unused : .straight
    }

    /// Whether tiles are files of their own, JPEG or WebP, which are decoded without libtiff.
    var isOfImages: Bool { compression == 50001 || compression == 7 && !isPlanar && [1, 3].contains(samples) }

    /// Whether libtiff makes red, green and blue of the samples: of YCbCr and CIELab.
    var isConverted: Bool { !isOfImages && [6, 8].contains(photometric) }

    /// The planes that are read: one if all samples are together.
    var planes: [Int] { isPlanar ? Set(drawn + (alphaSample.map { [$0] } ?? [])).sorted() : [0] }

    /// Bytes of a row of decoded samples.
    func rowBytes(_ width: Int, samples: Int) -> Int { (width * samples * bits + 7) / 8 }
}

extension TIFFLayout {
    private static let names: [Int: String] = [
        6: "old JPEG", 33003: "JPEG 2000", 33004: "JPEG 2000", 33005: "JPEG 2000", 34712: "JPEG 2000", 34925: "LZMA",
        50002: "JPEG XL", 52546: "JPEG XL",
    ]
    private static let known: Set<Int> = [1, 2, 3, 4, 5, 7, 8, 32771, 32773, 32946, 34887, 50000, 50001]
    /// Colours that are refused, by their photometric interpretation.
    private static let colours: [Int: String] = [
        4: "a mask", 9: "ICCLab", 10: "ITULab", 32803: "a sensor's colours", 32844: "LogL", 32845: "LogLuv",
    ]
    /// Maximum number of samples of a pixel.
    private static let mostSamples = 4096
    private static let ownTags: [TIFFTag] = [
        .t4Options, .t6Options, .jpegTables, .whitePoint, .yCbCrCoefficients, .yCbCrSubSampling, .referenceBlackWhite,
        .lercParameters,
    ]

    /// Reads how a directory's samples are encoded; refuses what cannot be drawn.
    init(_ directory: TIFFDirectory, isLittle: Bool, _ bytes: inout TIFFBytes) throws(TileSourceError) {
        self.isLittle = isLittle
        (samples, bits, sampleFormat) = try Self.samples(directory, &bytes)
        compression = try Self.compression(directory, &bytes)
        photometric = try directory.number(.photometricInterpretation, 0...65_535, &bytes)
        isPlanar = try directory.number(.planarConfiguration, 1...2, default: 1, &bytes) == 2 && samples > 1
        predictor = try directory.number(.predictor, 1...3, default: 1, &bytes)
        let extras = try directory.numbers(.extraSamples, atMost: Self.mostSamples, &bytes) ?? []
        // They are the last ones. Colours are none of them, whatever the field says.
        let base = samples - extras.count
        let (count, needed) = (samples, Self.colourCount(photometric))
        let alpha = extras.indices.first { [1, 2].contains(extras[$0]) && base + $0 >= max(needed, 1) }
        alphaSample = alpha.map { base + $0 }
        isMultiplied = alpha.map { extras[$0] == 1 } ?? false
        let others = (0..<count).filter { [alphaSample] in $0 != alphaSample }
        drawn =
            switch photometric {
            case 3: [0, 0, 0]
            case 5: Array(others.prefix(4))
            default: others.count >= 3 ? Array(others.prefix(3)) : Array(others.prefix(1))
            }
        own = []
        fillOrder = 1
        // JPEG and WebP files are read as they are, whatever the directory says.
        if compression != 7, compression != 50001 {
            fillOrder = try directory.number(.fillOrder, 1...2, default: 1, &bytes)
        }
        if !isOfImages {
            for tag in Self.ownTags where needs(tag) {
                if let field = try directory.copy(tag, atMost: 1 << 16, &bytes) { own.append(field) }
            }
        }
        try checkColours(bytes.name)
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

    private static func compression(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> Int {
        let compression = try directory.number(.compression, 1...65_535, default: 1, &bytes)
        guard known.contains(compression) else {
            let name = names[compression] ?? "\(compression)"
            throw TileSourceError(
                bytes.name,
                "compression by LZW, Deflate, Zstandard, PackBits, CCITT, LERC, JPEG, WebP or none was expected, not "
                    + name
            )
        }
        return compression
    }

    /// Whether libtiff needs a field to decode what is encoded so.
    private func needs(_ tag: TIFFTag) -> Bool {
        switch tag {
        case .t4Options, .t6Options: (2...4).contains(compression)
        case .jpegTables: compression == 7
        case .lercParameters: compression == 34887
        case .whitePoint: photometric == 8
        default: photometric == 6
        }
    }

    private func checkColours(_ path: String) throws(TileSourceError) {
        guard isOfImages || TIFFTile.knows(compression) else {
            throw TileSourceError(path, "this system's libtiff cannot decode the compression \(compression)")
        }
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
