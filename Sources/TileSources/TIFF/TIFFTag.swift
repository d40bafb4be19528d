/// Fields of a directory that are read; others are not kept, however many a file has.
enum TIFFTag: UInt16 {
    case newSubfileType = 254
    case imageWidth = 256
    case imageLength = 257
    case bitsPerSample = 258
    case compression = 259
    case photometricInterpretation = 262
    case fillOrder = 266
    case imageDescription = 270
    case stripOffsets = 273
    case samplesPerPixel = 277
    case rowsPerStrip = 278
    case stripByteCounts = 279
    case minSampleValue = 280
    case maxSampleValue = 281
    case planarConfiguration = 284
    case t4Options = 292
    case t6Options = 293
    case pageNumber = 297
    case software = 305
    case predictor = 317
    case whitePoint = 318
    case colorMap = 320
    case tileWidth = 322
    case tileLength = 323
    case tileOffsets = 324
    case tileByteCounts = 325
    case subIFDs = 330
    case extraSamples = 338
    case sampleFormat = 339
    case sMinSampleValue = 340
    case sMaxSampleValue = 341
    case jpegTables = 347
    case yCbCrCoefficients = 529
    case yCbCrSubSampling = 530
    case referenceBlackWhite = 532
    case modelPixelScale = 33550
    case modelTiepoint = 33922
    case modelTransformation = 34264
    case geoKeyDirectory = 34735
    case geoDoubleParams = 34736
    case geoAsciiParams = 34737
    case gdalMetadata = 42112
    case gdalNoData = 42113
    case lercParameters = 50674

    /// Name in messages: `ImageWidth`.
    var name: String {
        let name = "\(self)"
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
