import PanTraces
import Testing

@testable import TraceImport

@Suite struct AccessLogTests {
    static let combined = """
        10.0.0.7 - - [29/Nov/2026:02:40:26 +0100] "GET /map/5/17/11.png HTTP/1.1" 200 9000 "https://a/" "Firefox/130"
        """

    private func line<Value>(_ text: String, _ body: (AccessLogLine) -> Value) -> Value? {
        Array(text.utf8).withUnsafeBytes { AccessLogLine($0).map(body) }
    }

    @Test func readsCombinedLines() {
        let found: Void? = line(Self.combined) { line in
            // 29 November 2026, 01:40:26 UTC: 20,786 days after 1970.
            #expect(line.time == 1_795_916_426_000_000_000)
            #expect(line.client == "10.0.0.7" && line.agent == "Firefox/130" && line.method == "GET")
            #expect(String(decoding: line.path, as: UTF8.self) == "/map/5/17/11.png")
        }
        #expect(found != nil)
    }

    @Test(arguments: [
        // common; a virtual host before it; fields of a cache after it; a user; no HTTP version.
        #"10.0.0.7 - - [29/Nov/2026:02:40:26 +0100] "GET /map/5/17/11.png HTTP/1.1" 200 9000"#,
        #"maps.example:443 10.0.0.7 - - [29/Nov/2026:02:40:26 +0100] "GET /map/5/17/11.png HTTP/1.1" 200 9 "-" "B""#,
        #"10.0.0.7 - - [29/Nov/2026:02:40:26 +0100] "GET /map/5/17/11.png HTTP/2.0" 200 9 "-" "B" "1.2.3.4" 0.03 HIT"#,
        #"10.0.0.7 - ann [29/Nov/2026:02:40:26 +0100] "GET /map/5/17/11.png" 200 9 "-" "say \"B\" [x]""#,
        #"[29/Nov/2026:02:40:26 +0100] 10.0.0.7 "GET /map/5/17/11.png HTTP/1.1" 200"#,
    ])
    func readsOtherFormats(text: String) {
        #expect(line(text) { $0.client } == "10.0.0.7")
        #expect(line(text) { TilePath($0.path)?.x } == .some(17))
        #expect(line(text) { $0.time } == 1_795_916_426_000_000_000)
    }

    @Test(arguments: [
        "", "[", "GET /1/0/0.png", #"10.0.0.7 - - [29/Nov/2026:02:40:26] "GET /5/17/11.png HTTP/1.1" 200"#,
        #"10.0.0.7 - - [29/Nov/2026:24:00:00 +0000] "GET /5/17/11.png HTTP/1.1" 200"#,
        #"10.0.0.7 - - [00/Nov/2026:02:40:26 +0000] "GET /5/17/11.png HTTP/1.1" 200"#,
        #"10.0.0.7 - - [29/Foo/2026:02:40:26 +0000] "GET /5/17/11.png HTTP/1.1" 200"#,
        "10.0.0.7 - - [29/Nov/2026:02:40:26 +0100",
    ])
    func refusesBrokenLines(text: String) {
        #expect(line(text) { $0.time } == nil)
    }

    @Test(arguments: [
        ("[01/Jan/1970:00:00:00 +0000] a", Int64(0)), ("[28/Feb/2024:23:59:59 +0000] a", 1_709_164_799),
        ("[29/Feb/2024:00:00:00 +0000] a", 1_709_164_800), ("[01/Mar/2024:00:00:00 +0000] a", 1_709_251_200),
        ("[01/Jan/2025:00:00:00 -0130] a", 1_735_695_000),
    ])
    func knowsTheCalendar(text: String, seconds: Int64) {
        #expect(line(text) { $0.time } == seconds * 1_000_000_000)
    }

    @Test func noRequestIsNoPath() {
        let text = #"10.0.0.7 - - [29/Nov/2026:02:40:26 +0100] "\x16\x03\x01" 400 0 "-" "-""#
        #expect(line(text) { $0.path.isEmpty } == true)
    }

    @Test(arguments: [
        ("/5/17/11.png", 5, 17, 11, false), ("/a/b/5/17/11", 5, 17, 11, false),
        ("/5/17/11@2x.webp?k=/1/2/3", 5, 17, 11, true),
        ("https://a.tile.example/m/0/0/0.pbf#x", 0, 0, 0, false), ("/30/1073741823/0.png", 30, 1_073_741_823, 0, false),
    ])
    func findsTiles(path: String, zoom: Int, x: Int, y: Int, isDouble: Bool) throws {
        let tile = try #require(Array(path.utf8).withUnsafeBytes { TilePath($0) })
        #expect(tile.zoom == zoom && tile.x == x && tile.y == y && tile.isDouble == isDouble && tile.isValid)
    }

    @Test func theSetOfTilesHasNoHost() {
        let paths = ["https://a.tile.example/m/3/1/1.png", "http://b.tile.example/m/3/2/1.png", "/m/3/2/1.png"]
        #expect(Set(paths.map { path in Array(path.utf8).withUnsafeBytes { TilePath($0)?.prefix } }) == ["/m"])
    }

    @Test(arguments: ["/", "/5/17", "/5/17/.png", "/5/x/11.png", "/a/17/11.png", "/5/17/11a.png", "/5/17/12345678901"])
    func otherPathsAreNoTiles(path: String) {
        #expect(Array(path.utf8).withUnsafeBytes { TilePath($0) } == nil)
    }

    /// y/x in place of x/y is not guessed: half of such tiles are outside.
    @Test(arguments: ["/1/2/0.png", "/1/0/2.png", "/31/0/0.png"])
    func tilesOutsideOfTheirZoomAreNotValid(path: String) {
        #expect(Array(path.utf8).withUnsafeBytes { TilePath($0)?.isValid } == false)
    }

    @Test func knowsRobots() {
        let robots = ["Googlebot/2.1", "Mozilla/5.0 (compatible; bingbot/2.0)", "curl/8.5", "python-requests/2"]
        #expect(robots.allSatisfy(AccessLogLine.isRobot))
        #expect(!AccessLogLine.isRobot("Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"))
    }
}
