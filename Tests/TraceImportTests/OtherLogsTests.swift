import PanTraces
import Testing
import TileCache

@testable import TraceImport

/// Logs of servers beside nginx and Apache, as they wrote them.
@Suite struct OtherLogsTests {
    private func imported(
        _ text: String,
        viewport: PanTraceHeader.Size? = nil
    ) throws -> (sessions: [ImportedSession], counts: ImportCounts) {
        var sessions: [ImportedSession] = []
        var importer = Importer(pause: 600_000_000_000, viewport: viewport) { sessions.append($0) }
        #expect(try importer.read(bytes: Array(text.utf8), name: "file") == .accessLog)
        try importer.finish()
        return (sessions, importer.counts)
    }

    private func tile(_ path: String) -> [Int]? {
        Array(path.utf8).withUnsafeBytes { TilePath($0).map { [$0.zoom, $0.x, $0.y] } }
    }

    /// MapProxy 1.15.1, `serve-develop`; Python 3.11, `http.server`.
    @Test(arguments: ["[info] ", ""]) func serversInPythonHaveNoZone(start: String) throws {
        let lines = (3...4).map { x in
            "\(start)127.0.0.1 - - [29/Nov/2026 06:02:3\(x)] \"GET /tiles/osm/webmercator/3/\(x)/2.png HTTP/1.1\" 404 -\n"
        }
        let (sessions, counts) = try imported(lines.joined() + "127.0.0.1 - - [29/Nov/2026 06:02:35] code 404, none\n")
        #expect(counts.used == 2 && counts.omissions == [.noTile: 1])
        #expect(try #require(sessions.first?.samples.last).time == 1_000_000_000)
    }

    @Test(arguments: [
        "[29/Nov/2026 06:02:33]", "[29/Nov/2026:06:02:33]", "[29/Nov/2026 06:02:33 +0000]", "[29/Nov/2026 06:02:33",
    ])
    func aTimeWithoutAZoneHasASpace(time: String) {
        let text = "127.0.0.1 - - \(time) \"GET /3/4/2.png HTTP/1.1\" 200 -"
        let found = Array(text.utf8).withUnsafeBytes { AccessLogLine($0)?.time }
        #expect(found == (time == "[29/Nov/2026 06:02:33]" ? 1_795_932_153_000_000_000 : nil))
    }

    /// Requests by keys and values, in any case and order; the zoom is the number at the end.
    @Test func tilesOfWMTS() {
        let query = "/service?SERVICE=WMTS&REQUEST=GetTile&LAYER=osm&TILEMATRIX=03&TILEROW=2&TILECOL=4&FORMAT=image/png"
        #expect(tile(query) == [3, 4, 2])
        #expect(tile("/gwc/service/wmts?tilecol=4&layer=a:b&tilerow=2&TileMatrix=EPSG:900913:3") == [3, 4, 2])
        #expect(
            tile("/s?TILEMATRIX=fine&TILEROW=2&TILECOL=4") == nil && tile("/s?TILEMATRIX=3&TILEROW=-1&TILECOL=4") == nil
        )
        // Another query stays a query.
        #expect(tile("/3/4/2.png?key=1&tilerow=7") == [3, 4, 2])
        let layers = ["a", "b"].map { layer in
            Array("/s?layer=\(layer)&tilematrix=3&tilerow=2&tilecol=4".utf8).withUnsafeBytes { TilePath($0)?.prefix }
        }
        #expect(layers == ["/s?a", "/s?b"])
        #expect(tile("/s?" + String(repeating: "a=1&", count: 1100) + "tilematrix=3&tilerow=2&tilecol=4") == nil)
    }

    @Test func arcGISHasTheRowFirst() {
        #expect(tile("/arcgis/rest/services/World/MapServer/tile/3/2/4") == [3, 4, 2])
        #expect(tile("/mytile/3/2/4") == [3, 2, 4] && tile("/tiles/3/2/4") == [3, 2, 4])
    }

    /// CloudFront's fields as its manual has them, and those of IIS.
    @Test func fieldsAreFoundByTheirNames() throws {
        let cloudFront = """
            #Version: 1.0
            #Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query
            2026-11-29\t06:02:33\tFRA2\t392\t192.0.2.1\tGET\td.example\t/map/3/4/2.png\t200\t-\tMozilla/5.0%20Firefox\t-
            2026-11-29\t06:02:34\tFRA2\t392\t192.0.2.1\tGET\td.example\t/map/3/5/2.png\t200\t-\tMozilla/5.0%20Firefox\tkey=1
            2026-11-29\t06:02:35\tFRA2\t392\t192.0.2.2\tGET\td.example\t/map/3/5/2.png\t200\t-\tGooglebot\t-
            2026-11-29\t6:2\tFRA2\t392\t192.0.2.1\tGET\td.example\t/map/3/5/2.png\t200\t-\tFirefox\t-
            2026-11-29\t06:02:36
            """
        let (sessions, counts) = try imported(cloudFront)
        #expect(sessions.count == 1 && counts.used == 2 && counts.entries == 5, "\(counts)")
        #expect(counts.omissions == [.broken: 2, .robots: 1], "\(counts.omissions)")
        let iis = """
            #Fields: time date cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent)
            06:02:33 2026-11-29 GET /s layer=a&tilematrix=3&tilerow=2&tilecol=4 192.0.2.1 Mozilla/5.0+Firefox
            06:02:34 2026-11-29 GET /s layer=a&tilematrix=3&tilerow=2&tilecol=5 192.0.2.1 Mozilla/5.0+Firefox
            """
        #expect(try imported(iis).counts.used == 2)
    }

    /// A server begins anew with other fields, here without the client's address: the columns before mislead.
    @Test func fieldsThatLackOneEndTheOnesBefore() throws {
        let fields = "#Fields: date time c-ip cs-method cs-uri-stem\n"
        func row(_ x: Int) -> String { "2026-11-29 06:02:3\(x) 192.0.2.1 GET /3/\(x)/2.png\n" }
        let lacking = "#Software: x\n#Date: 2026-11-29 06:02:33\n#Fields: date time s-ip cs-method cs-uri-stem\n"
        let (_, counts) = try imported(
            fields + row(3) + row(4) + lacking + row(5) + fields + row(6) + "# no directive\n#: 1\n"
        )
        #expect(counts.used == 3 && counts.entries == 6 && counts.omissions == [.broken: 3], "\(counts)")
    }

    /// Thousands of names are kept: those of one client are equal from 300 bytes on, in each kind of log.
    @Test(arguments: [299, 300]) func longNamesAreClipped(length: Int) throws {
        func agent(_ end: String) -> String { String(repeating: "x", count: length) + end }
        let common = ["a", "b"].enumerated().map { x, end in
            "c - - [29/Nov/2026:06:02:3\(x) +0000] \"GET /6/\(9 * x)/20.png HTTP/1.1\" 200 1 \"-\" \"\(agent(end))\"\n"
        }
        let named = ["a", "b"].enumerated().map { x, end in
            "2026-11-29 06:02:3\(x) c GET /6/\(9 * x)/20.png \(agent(end))\n"
        }
        let json = ["a", "b"].enumerated().map { x, end in
            #"{"ts":179593212\#(x),"request":{"remote_ip":"c","method":"GET","uri":"/6/\#(9 * x)/20.png","#
                + #""headers":{"User-Agent":["\#(agent(end))"]}}}"# + "\n"
        }
        let fields = "#Fields: date time c-ip cs-method cs-uri-stem cs(User-Agent)\n"
        for log in [common.joined(), fields + named.joined(), json.joined()] {
            // Two clients with one position each make no session.
            #expect(try imported(log).sessions.count == (length == 300 ? 1 : 0), "\(log.prefix(60))")
        }
    }

    /// Caddy 2.6.2.
    @Test func linesOfJSONAreCaddys() throws {
        func line(_ x: Int, _ agent: String = "Mozilla/5.0 Firefox") -> String {
            #"{"level":"error","ts":179593212\#(x).479843,"logger":"http.log.access.log0","msg":"handled request","#
                + #""request":{"remote_ip":"127.0.0.1","remote_port":"35372","proto":"HTTP/1.1","method":"GET","#
                + #""host":"a","uri":"/osm/6/\#(x * 9)/20.png","headers":{"User-Agent":["\#(agent)"]}},"status":404}"#
                + "\n"
        }
        let (sessions, counts) = try imported(line(3) + line(4) + line(5, "curl/8") + "{\"ts\":1}\n{\n")
        #expect(counts.used == 2 && counts.omissions == [.broken: 2, .robots: 1], "\(counts)")
        #expect(try #require(sessions.first?.samples.last).time == 1_000_000_000)
    }

    /// What is stated is not guessed.
    @Test func theSizeOfTheViewCanBeStated() throws {
        let log = (0..<2).map { step in
            "a - - [29/Nov/2026:06:02:3\(step) +0000] \"GET /6/\(20 + 9 * step)/20.png HTTP/1.1\" 200 1\n"
        }
        let size = PanTraceHeader.Size(width: 1000, height: 700)
        let guessed = try #require(try imported(log.joined()).sessions.first)
        let stated = try #require(try imported(log.joined(), viewport: size).sessions.first)
        #expect(stated.header.viewport == size && guessed.header.viewport != size)
        func guesses(_ session: ImportedSession) -> String? { session.header.otherEntries.last?.value }
        #expect(guesses(guessed)?.contains("size of the view") == true && guesses(stated)?.contains("size") == false)
        // The last tile shows one pixel of its left edge.
        let edge = try #require(stated.samples.last).center.x + 500
        #expect(edge == 29 * 256 + 1)
    }
}

/// Tracks in KML: times first, then places.
@Suite struct KMLTrackTests {
    private func imported(_ text: String) throws -> (sessions: [ImportedSession], counts: ImportCounts) {
        var sessions: [ImportedSession] = []
        var importer = Importer(pause: 600_000_000_000) { sessions.append($0) }
        #expect(try importer.read(bytes: Array(text.utf8), name: "file") == .kml)
        try importer.finish()
        return (sessions, importer.counts)
    }

    @Test func placesHaveTheTimesBeforeThem() throws {
        let whens = ["12:00:00Z", "12:00:01Z", "noon", "12:00:03Z"].map { "<when>2026-11-29T\($0)</when>" }
        let coords = ["0 0 5", "1 0 5", "2 0 5", "3 0", "4 0 5", "x 0 5"].map { "<gx:coord>\($0)</gx:coord>" }
        let track = "<gx:Track>\(whens.joined())\(coords.joined())</gx:Track>"
        let (sessions, counts) = try imported("<kml xmlns:gx='g'><Placemark>\(track)</Placemark></kml>")
        let session = try #require(sessions.first)
        #expect(session.samples.map(\.time) == [0, 1_000_000_000, 3_000_000_000])
        let half = GlobeView.side / 2
        #expect(session.samples.map(\.center.x) == [half, half + GlobeView.side / 360, half + GlobeView.side / 120])
        // A place without a time of its own, and one that is none.
        #expect(counts.omissions == [.broken: 2, .noTime: 1] && counts.entries == 6)
        #expect(session.header.otherEntries.first?.value == "KML track")
    }

    /// Each track has its own times, in documents of several.
    @Test func aTrackBeginsAnew() throws {
        let tracks = (0..<2).map { track in
            "<gx:Track>"
                + (0..<2).map { "<when>2026-11-29T12:0\(track):0\($0)Z</when><gx:coord>\($0) \(track)</gx:coord>" }
                .joined()
                + "</gx:Track>"
        }
        let (sessions, counts) = try imported("<kml xmlns:gx='g'>\(tracks.joined())</kml>")
        #expect(sessions.first?.samples.map(\.time) == [0, 1, 60, 61].map { $0 * 1_000_000_000 })
        #expect(counts.omissions.isEmpty)
    }
}
