import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Headers of JPEG 2000 in a TIFF: what would take more memory than its tile may is refused before it is decoded.
@Suite struct TIFFJPEG2000Tests {
    private let folder = ScratchFolder()

    /// The headers of a codestream without data.
    private struct Header {
        var side = 256
        var tile = 256
        var components = 1
        var layers = 1
        var levels = 5
        /// Exponents of the sides of code-blocks, less 2.
        var block: UInt8 = 4
        /// Exponents of the sides of precincts, of each resolution the same; `nil` for the largest ones.
        var precinct: UInt8?
        /// Whether the coding is stated for the first part, and for its first component.
        var isOfPart = false
        var isOfComponent = false
        /// Where the picture begins in the grid.
        var offset = 0
        /// Bytes before the coding.
        var before: [UInt8] = []

        private func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }

        private func segment(_ marker: UInt8, _ data: [UInt8]) -> [UInt8] {
            [0xFF, marker] + number(data.count + 2, 2) + data
        }

        private func coding(_ levels: Int) -> [UInt8] {
            let sides = precinct.map { [UInt8](repeating: $0 << 4 | $0, count: levels + 1) } ?? []
            return [UInt8(levels), block, block, 0, 1] + sides
        }

        var bytes: [UInt8] {
            let sizes = [side + offset, side + offset, offset, offset, tile, tile, 0, 0].flatMap { number($0, 4) }
            let kinds = [[UInt8]](repeating: [7, 1, 1], count: components).flatMap(\.self)
            let style: UInt8 = precinct == nil ? 0 : 1
            let own = segment(0x52, [style, 0] + number(layers, 2) + [0] + coding(levels))
            let component = segment(0x53, [0, style] + coding(levels))
            let usual = segment(0x52, [0, 0, 0, 1, 0, 5, 4, 4, 0, 1])
            let stated = isOfComponent ? usual + component : own
            let part =
                [0xFF, 0x90] + number(10, 2) + [0, 0, 0, 0, 0, 0, 0, 1] + (isOfPart ? stated : []) + [0xFF, 0x93]
            return [0xFF, 0x4F] + segment(0x51, [0, 0] + sizes + number(components, 2) + kinds)
                + before + (isOfPart ? usual : stated) + part + [0xFF, 0xD9]
        }
    }

    /// What a source says of a tile that is such a codestream.
    private func said(_ header: Header) throws -> String {
        var page = MadeTIFF.Directory(TestImage(width: 256, height: 256))
        (page.tile, page.samples, page.compression) = (256, 1, 33005)
        page.encode = { _ in header.bytes }
        let path = folder.write(MadeTIFF(directories: [page]).bytes(), to: "made.tif")
        let source = try TIFFTileSource(path)
        #expect(throws: TileFailure.permanent) { try source.loaded(0, 0, 0) }
        return source.statistics.lastFailure ?? ""
    }

    /// What is usual is left to the decoder, which finds that tables are missing.
    private func isDecoded(_ header: Header) throws -> Bool { try !said(header).contains("expected") }

    @Test func componentsAreBounded() throws {
        #expect(try isDecoded(Header()) && isDecoded(Header(components: 2)))
        for count in [3, 16_384] {
            #expect(try said(Header(components: count)).contains("one component more than samples"))
        }
    }

    @Test func tilesAreBounded() throws {
        #expect(try isDecoded(Header(tile: 8)))
        #expect(try said(Header(tile: 7)).contains("at most 1024 tiles"))
        #expect(try said(Header(tile: 0)).contains("with an extent"))
    }

    /// Precincts, code-blocks and layers, in the main header, in that of a part, and of a component.
    @Test(arguments: [false, true], [false, true]) func tablesAreBounded(isOfPart: Bool, isOfComponent: Bool) throws {
        func header(_ change: (inout Header) -> Void) -> Header {
            var header = Header()
            (header.isOfPart, header.isOfComponent) = (isOfPart, isOfComponent)
            change(&header)
            return header
        }
        for side in [UInt8(5), 7, 15] { #expect(try isDecoded(header { $0.precinct = side })) }
        for side in [UInt8(1), 2] {
            #expect(try said(header { $0.precinct = side }).contains("larger precincts and code-blocks"))
        }
        #expect(try isDecoded(header { $0.block = 1 }))
        #expect(try said(header { $0.levels = 33 }).contains("whole headers"))
        #expect(try said(header { $0.precinct = 0 }).contains("whole headers"))
        guard !isOfComponent else { return }
        #expect(try isDecoded(header { $0.layers = 50 }))
        let many = header { ($0.layers, $0.precinct) = (65_535, 7) }
        #expect(try said(many).contains("fewer layers"))
    }

    /// A picture that begins beside the corner of its grid is measured as any other.
    @Test func picturesWithAnOffsetAreBounded() throws {
        #expect(try isDecoded(Header(tile: 257, precinct: 7, offset: 1)))
        #expect(try said(Header(tile: 257, precinct: 1, offset: 1)).contains("larger precincts and code-blocks"))
    }

    /// Markers after which the decoder looks for others: the coding may be in what they seem to hold.
    @Test(arguments: [[0xFF, 0xD9], [0xFF, 0x54, 0, 4, 1, 2], [0xFF, 0x30]] as [[UInt8]])
    func unknownMarkersAreRefused(before: [UInt8]) throws {
        #expect(try isDecoded(Header(before: [0xFF, 0x64, 0, 5, 0, 1, 65])))
        #expect(try said(Header(before: before)).contains("whole headers"))
    }

    /// Memory of the decoder counts while it decodes, and beside a strip.
    @Test func memoryIsCounted() throws {
        let scratch = ScratchMemory()
        let inside = scratch.counting(1000) { scratch.byteCount }
        #expect(inside == 1000 && scratch.byteCount == 0)
        func bytes(_ compression: UInt64) throws -> Int {
            var page = MadeTIFF.Directory(TestImage(width: 100, height: 40))
            (page.tile, page.stripRows, page.compression) = (0, 20, compression)
            page.encode = { _ in [1, 2, 3] }
            let path = folder.write(MadeTIFF(directories: [page]).bytes(), to: "made.tif")
            var file = try TIFFFile(path, http: HTTPTileOptions(), TileDelivery(TileSourceOptions()))
            return try TIFFStrips(&file, limit: 1 << 20).wholeBytes
        }
        // Three samples of four bytes.
        #expect(try bytes(33005) == bytes(8) + 12 * 100 * 20)
    }
}
