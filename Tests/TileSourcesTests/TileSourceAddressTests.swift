import Testing

@testable import TileSources

/// Addresses of tiles as written on command lines.
@Suite struct TileSourceAddressTests {
    @Test(
        arguments: [
            ("mbtiles:a.mbtiles", .mbtiles("a.mbtiles")), ("mbtiles:a#rows=top", .mbtiles("a", rows: .fromTop)),
            ("mbtiles:a#rows=top#rows=bottom", .mbtiles("a#rows=top", rows: .fromBottom)),
            ("mbtiles:a#rows=x/b", .mbtiles("a#rows=x/b")), ("mbtiles:a#b", .mbtiles("a#b")),
            ("xyz:a/b:c", .folder("a/b:c", TileFolderLayout(.xyz))),
            ("tiff:a.svs", .tiff("a.svs")), ("tiff:a#b.tif", .tiff("a#b.tif")), ("tiff:a#b=1", .tiff("a#b=1")),
            ("tiff:a#page=2", .tiff("a", TIFFTileOptions(page: 2))),
            (
                "tiff:https://h/a.tif#series=3&band=4,3,2&range=-1.5,2e3&synthesized=0",
                .tiff(
                    "https://h/a.tif",
                    TIFFTileOptions(series: 3, bands: [4, 3, 2], range: -1.5...2000, synthesizedLevels: 0)
                )
            ),
            ("iiif:http://h/a", .iiif("http://h/a")),
            ("wmts:https://h/c.xml#layer=a", .wmts("https://h/c.xml#layer=a")), ("pmtiles:a", .pmtiles("a")),
            ("pmtiles:https://h/a", .pmtiles("https://h/a")),
            ("tms:/t", .folder("/t", TileFolderLayout(.tms))),
            ("zyx@2x:t@2x", .folder("t@2x", TileFolderLayout(.zyx, isDoubled: true))),
            ("file:a/{z}/{x}/{y}", .files("a/{z}/{x}/{y}")), ("tilejson:a.json", .tileJSON("a.json")),
            ("quadkey:a/#rows=bottom", .files("a/{q}#rows=bottom")), ("quadkey:a#b", .files("a#b/{q}")),
            ("arcgis:a#b=c/d", .files("a#b=c/d/L{z:02}/R{y:08x}/C{x:08x}")),
            (
                "tc:/a#world=geodetic",
                .files(
                    "/a/{z:02}/{x/1000000:03}/{x/1000%1000:03}/{x%1000:03}/{y/1000000:03}/{y/1000%1000:03}/{y%1000:03}#world=geodetic&rows=bottom"
                )
            ),
            ("mp:/a", .files("/a/{z:02}/{x/10000:04}/{x%10000:04}/{y/10000:04}/{y%10000:04}")),
            ("dzi:a.dzi", .deepZoom("a.dzi")), ("image:x.png", .image("x.png")),
            ("http://h/{z}/{x}/{y}", .http("http://h/{z}/{x}/{y}")), ("HTTPS://h", .http("HTTPS://h")),
            ("http:https://h", .http("https://h")), ("http:/#", .http("/#")), ("http:xyz:a", .http("xyz:a")),
        ] as [(String, TileSourceAddress)]
    ) func addressesAreReadAndWritten(text: String, address: TileSourceAddress) {
        #expect(TileSourceAddress(text) == address)
        #expect(TileSourceAddress(address.description) == address)
    }

    @Test(
        arguments: [
            "", ":", "xyz", "xyz:", "file:", "tc:", "MBTILES:a", ":a", "@2x:a", "xyz@3x:a", "dzi@2x:a", "pmtiles:",
            "iiif:",
            "wmts:", "mbtiles:a#rows=up", "mbtiles:a#rows=", "mbtiles:#rows=top", "mbtiles:a#rows=TOP",
            "tiff:a#page=0", "tiff:a#page=", "tiff:a#page=1&series=1", "tiff:a#band=1,2", "tiff:a#band=0",
            "tiff:#page=1",
            "tiff:a#range=2,1", "tiff:a#range=1", "tiff:a#range=0,nan", "tiff:a#page=1&b=2", "tiff:a#synthesized=-1",
            "tiff:a#page=1&",
        ]
    ) func otherWordsAreNone(text: String) {
        #expect(TileSourceAddress(text) == nil)
    }

    /// Errors and last failures are for logs.
    @Test(
        arguments: [
            ("http://h/@2x", "http://h/@2x"), ("a@b", "a@b"), ("http://u:p@h", "http://***@h"),
            ("pmtiles:HTTPS://u@h:1/a@b", "pmtiles:HTTPS://***@h:1/a@b"), ("http://u:p@q'\"@h?a@b", "http://***@h?a@b"),
            ("http://a:b@c/d: not http://e:f@g#h", "http://***@c/d: not http://***@g#h"), ("://@", "://***@"),
            ("http://h: not x@y", "http://h: not x@y"),
            ("http://u:p/q#?@h/a: not b@c", "http://***@h/a: not b@c"), ("http://[::1]:80/@2x", "http://[::1]:80/@2x"),
            ("http://u:#secret@h/a", "http://***@h/a"), ("http://u:a:1/b@h/", "http://***@h/"),
            ("http://[::1]/@2x", "http://[::1]/@2x"), ("http://h:80/@2x", "http://h:80/@2x"),
        ]
    ) func passwordsAreLeftOut(text: String, shown: String) {
        #expect("\(TileSourceError(text, text))" == "\(shown): \(shown)")
        let counter = SourceCounter()
        counter.count(TileLoadFailure(.status, text), of: text)
        #expect(counter.statistics.lastFailure == "\(shown): \(shown)")
    }

    /// Addresses open what they name.
    @Test func archivesAreOpened() throws {
        let folder = ScratchFolder()
        var made = MadePMTiles()
        made.add(0, TestImage(width: 32, height: 32).png)
        let path = folder.write(made.bytes(), to: "a.pmtiles")
        let source = try #require(TileSourceAddress("pmtiles:\(path)")).open()
        #expect(source is PMTilesTileSource && source.name == path)
        let tiff = MadeTIFF(directories: [MadeTIFF.Directory(TestImage(width: 32, height: 32))])
        let picture = try #require(TileSourceAddress("tiff:\(folder.write(tiff.bytes(), to: "a.tif"))")).open()
        #expect(picture is TIFFTileSource)
        #expect(
            message { _ = try TileSourceAddress.pmtiles("http://127.0.0.1:1/a").open() }.hasPrefix("http://127.0.0.1")
        )
    }

    @Test(
        arguments: [
            "", "http://h", "http://h/{z}/{x}", "http://h/{z}/{x}/{y", "http://h/{z}/{x}/{w}", "http://h /{z}/{x}/{y}",
            "http://h\u{e9}/{z}/{x}/{y}", "ftp://h/{z}/{x}/{y}", "http://h/${z}/${x}/${y}", "http://h/{z}/{x}/${y}",
        ]
    ) func templatesThatAreNoneAreRefused(text: String) {
        #expect(throws: TileSourceError.self) { try TileTemplate(text) }
    }

    /// A place of a programming language's text is none of a template.
    @Test func aDollarBeforeAPlaceIsNamed() {
        let said = message { _ = try TileTemplate("http://h/a$b/${z}/${x}/${y}.png") }
        #expect(said.hasSuffix("{z}, {x}, {y} or {-y} was expected, not ${z}"))
        #expect((try? TileTemplate("http://h/$/{z}/{x}/{y}")) != nil)
    }
}
