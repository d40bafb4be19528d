import Testing

@testable import TileSources

/// A TIFF of one tile, 32 pixels a side.
struct MadeKind: CustomTestStringConvertible, Sendable {
    var name: String
    var bits = 8
    var samples = 1
    var format: UInt64 = 1
    var photometric: UInt64 = 1
    var compression: UInt64 = 1
    var more: [MadeTIFF.Field] = []
    /// Encoded bytes of a row.
    var row: [UInt8]
    /// Red, green, blue and alpha of the first pixels of a row.
    var pixels: [[UInt8]]

    var testDescription: String { name }

    /// Writes the file, in one tile or in strips; returns its path.
    func write(to folder: ScratchFolder, isTiled: Bool, isLittle: Bool, isBig: Bool) -> String {
        var directory = MadeTIFF.Directory(TestImage(width: 32, height: 32))
        (directory.tile, directory.samples, directory.bits) = (isTiled ? 32 : 0, samples, bits)
        directory.stripRows = 8
        directory.compression = compression
        directory.more = more + [.shorts(262, photometric)]
        directory.more.append(.init(tag: 339, type: 3, values: [UInt64](repeating: format, count: samples)))
        directory.more.removeAll { $0.values.isEmpty }
        directory.encode = { part in (0..<part.height).flatMap { _ in row } }
        let made = MadeTIFF(directories: [directory], isLittle: isLittle, isBig: isBig)
        return folder.write(made.bytes(), to: "made.tif")
    }

    /// The tile of a source that was opened by an address.
    static func loaded(_ source: any PyramidTileSource) throws -> TestImage {
        if let tiled = source as? TIFFTileSource { return try tiled.loaded(0, 0, 0).image }
        return try #require(source as? ImageTileSource).loaded(0, 0, 0).image
    }
}

extension MadeTIFF.Field {
    static func shorts(_ tag: UInt64, _ values: UInt64...) -> Self { shorts(tag, values) }

    static func shorts(_ tag: UInt64, _ values: [UInt64]) -> Self { Self(tag: tag, type: 3, values: values) }

    /// A number of 64 bits with a point.
    static func double(_ tag: UInt64, _ value: Double) -> Self { Self(tag: tag, type: 12, values: [value.bitPattern]) }

    static func text(_ tag: UInt64, _ text: String) -> Self {
        Self(tag: tag, type: 2, values: (Array(text.utf8) + [0]).map { UInt64($0) })
    }
}
