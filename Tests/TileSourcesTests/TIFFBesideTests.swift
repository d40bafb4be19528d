import Dispatch
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Overviews in a file beside a TIFF, as GDAL writes them.
@Suite struct TIFFBesideTests {
    private let folder = ScratchFolder()
    private let straight = TileSourceOptions(alpha: .straight)
    private let images = [(200, 130), (100, 65), (50, 33)].enumerated().map {
        TestImage(width: $1.0, height: $1.1, seed: $0)
    }

    private func made(_ images: ArraySlice<TestImage>, kind: UInt64, isBig: Bool = false) -> [UInt8] {
        MadeTIFF(
            directories: images.map { image in
                var directory = MadeTIFF.Directory(image)
                directory.kind = kind
                return directory
            },
            isBig: isBig
        ).bytes()
    }

    @Test(arguments: [false, true]) func overviewsBesideAFileAreRead(isBig: Bool) throws {
        let (main, beside) = (made(images[..<1], kind: 0), made(images[1...], kind: 1, isBig: isBig))
        let server = try #require(RangeServer(main) { $0.beside = beside })
        let path = folder.write(main, to: "made.tif")
        folder.write(beside, to: "made.tif.ovr")
        for place in [path, server.address] {
            let source = try TIFFTileSource(place, options: straight)
            #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == [4, 2, 1] && source.warning == nil)
            for (level, image) in images.reversed().enumerated() { try source.expect(level, image) }
            #expect(source.statistics.failureCount == 0)
        }
        // Of one page, and of a file with its own, they are none.
        #expect(try TIFFTileSource(path, tiff: TIFFTileOptions(page: 1)).fileLevels.count == 1)
        let own = made(images[..<1], kind: 0)
        folder.write(own, to: "other.tif")
        folder.write([1, 2, 3], to: "other.tif.ovr")
        let other = try TIFFTileSource("\(folder.path)/other.tif")
        #expect(other.fileLevels.count == 1)
        #expect(other.warning?.contains("its overviews are not read: \(folder.path)/other.tif.ovr: ") == true)
    }

    /// The bytes of a file that a request asks for.
    private static func part(of file: [UInt8], _ request: ModelServer.Request) -> ModelServer.Answer {
        let ends = (request.headers["range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
        guard ends.count == 2 else { return ModelServer.Answer(status: 400) }
        let range = (ends[0]..<ends[1] + 1).clamped(to: 0..<file.count)
        let line = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.count)"
        return ModelServer.Answer(status: 206, headers: [line, "ETag: \"a\""], body: Array(file[range]))
    }

    /// That there is none, and a page in its place, is no failure. What may be there is: a server that cannot answer now.
    @Test(arguments: [(404, false), (403, false), (200, false), (503, true)])
    func aServersAnswerInPlaceOfAFile(status: Int, isSaid: Bool) throws {
        let main = made(images[..<1], kind: 0)
        let server = try #require(
            ModelServer { request in
                guard request.path.hasSuffix(".ovr") else {
                    return Self.part(of: main, request)
                }
                return .init(status: status, body: Array("<html>There is nothing here</html>".utf8))
            }
        )
        var http = HTTPTileOptions()
        http.retries = 0
        let place = "http://127.0.0.1:\(server.port)/file"
        let source = try TIFFTileSource(place, http: http)
        #expect(source.fileLevels.count == 1 && (source.warning != nil) == isSaid, "\(source.warning ?? "")")
        if isSaid { #expect(source.warning?.contains("not read: \(place).ovr: the server answered with") == true) }
    }

    /// An opening that is interrupted while a server is asked for the file ends as such.
    @Test func anInterruptionEndsTheOpening() throws {
        let main = made(images[..<1], kind: 0)
        let (gate, asked) = (DispatchSemaphore(value: 0), Record<String>())
        let server = try #require(
            ModelServer { request in
                guard request.path.hasSuffix(".ovr") else {
                    return Self.part(of: main, request)
                }
                asked.add(request.path)
                gate.wait()
                return .init(status: 404)
            }
        )
        let said = Record<String>()
        let address = try #require(TileSourceAddress("tiff:http://127.0.0.1:\(server.port)/file"))
        let opening = address.open { result in
            said.add(message { _ = try result.get() })
        }
        let isAsked = settled { !asked.all.isEmpty }
        opening.interrupt()
        let isEnded = settled { !said.all.isEmpty }
        gate.signal()
        #expect(isAsked && isEnded && said.all.first?.hasSuffix("it was cancelled") == true, "\(said.all)")
    }

    /// A picture with a mask whose overviews have none.
    @Test func overviewsBesideAMaskedPicture() throws {
        var directories = [MadeTIFF.Directory(images[0]), MadeTIFF.Directory(images[0])]
        (directories[1].kind, directories[1].samples) = (4, 1)
        directories[1].more = [.shorts(262, 4)]
        let path = folder.write(MadeTIFF(directories: directories).bytes(), to: "made.tif")
        folder.write(made(images[1...1], kind: 1), to: "made.tif.ovr")
        let source = try TIFFTileSource(path)
        #expect(source.fileLevels.count == 2)
        #expect(source.warning?.contains("its overview of 100 x 65 pixels has no mask") == true)
    }

    /// A server without such a file is asked once, and that is no failure. A picture of one tile needs none, and what
    /// follows a question mark is no name.
    @Test func aServerIsAskedOnce() throws {
        for (image, suffix, count) in [
            (images[0], "", 1), (TestImage(width: 32, height: 32), "", 0), (images[0], "?key=1", 0),
        ] {
            let server = try #require(RangeServer(made([image], kind: 0)))
            let source = try TIFFTileSource(server.address + suffix)
            #expect(server.besideCount == count && server.asked.count == 1 && source.warning == nil)
            #expect(source.statistics.failureCount == 0 && source.fileLevels.count == 1)
        }
    }

    /// Levels are those of the picture: others are not taken.
    @Test func otherPicturesAreNone() throws {
        folder.write(made([TestImage(width: 90, height: 90)], kind: 1), to: "made.tif.ovr")
        let path = folder.write(made(images[..<1], kind: 0), to: "made.tif")
        let source = try TIFFTileSource(path)
        #expect(source.fileLevels.count == 1 && source.warning == nil)
    }
}
