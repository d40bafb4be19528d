import Foundation
import PanTraces
import Testing
import TileCache

@testable import TraceImport

/// Files that are damaged, or made to take memory.
@Suite struct ImportBoundsTests {
    private func imported(_ text: String) throws -> (sessions: [ImportedSession], counts: ImportCounts, error: String) {
        var sessions: [ImportedSession] = []
        var importer = Importer(pause: 600_000_000_000) { sessions.append($0) }
        var message = ""
        do {
            _ = try importer.read(bytes: Array(text.utf8), name: "file")
        } catch let error as ImportError {
            message = error.description
        }
        try importer.finish()
        return (sessions, importer.counts, message)
    }

    /// Dates that no clock has.
    @Test(arguments: ["0001", "1700", "2200", "9999"])
    func datesOutOfRangeAreBroken(year: String) throws {
        let dates = ["2026-11-29T12:00:00Z", "\(year)-12-31T00:00:00Z", "2026-11-29T12:00:01Z"]
        let table = dates.map { "\($0),\($0.hasSuffix("1Z") ? 8 : 5),5\n" }.joined()
        #expect(try imported("time,x,y\n" + table).counts.omissions == [.broken: 1])
        let points = dates.map { "<trkpt lat='0' lon='\($0.hasSuffix("1Z") ? 1 : 0)'><time>\($0)</time></trkpt>" }
        #expect(try imported("<gpx>" + points.joined() + "</gpx>").counts.omissions == [.noTime: 1])
        let entries = dates.map { date in
            #"{"startedDateTime": "\#(date)", "request": {"url": "/5/\#(date.hasSuffix("1Z") ? 20 : 3)/3.png"}}"#
        }
        let har = #"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#
        #expect(try imported(har).counts.omissions == [.broken: 1])
    }

    private static let place = "<longitude>0</longitude><latitude>0</latitude><range>9</range>"

    /// Attributes of a flight are no values, which would make short texts of many positions.
    @Test func flightsHaveNoAttributes() throws {
        let flights = String(repeating: "<FlyTo longitude='0' latitude='0' range='9' duration='60'/>", count: 3)
        let (_, counts, _) = try imported("<kml>\(flights)</kml>")
        #expect(counts.omissions == [.broken: 3])
    }

    @Test(arguments: [1000, 1001]) func nestedElementsAreBounded(depth: Int) throws {
        let (_, _, error) = try imported(
            "<gpx>" + String(repeating: "<a>", count: depth - 1) + String(repeating: "</a>", count: depth - 1)
                + "</gpx>"
        )
        #expect(error.contains("nested more than 1000 deep") == (depth > 1000), "\(error)")
    }

    /// A tour of longer than any clock: it ends, and nothing traps.
    @Test func theClockOfATourEnds() throws {
        let wait = "<Wait><duration>86400</duration></Wait>"
        let waits = String(repeating: wait, count: 47_000)
        let flight = "<FlyTo><duration>60</duration>\(Self.place)</FlyTo>"
        let (_, counts, error) = try imported("<kml>\(flight)\(waits)\(flight)</kml>")
        #expect(error == "" && counts.omissions[.backwards] == 1)
    }

    @Test func declarationsAndLongTagsAreRefused() throws {
        let attribute = "<!DOCTYPE gpx [<!ATTLIST trkpt lat CDATA '0'>]><gpx/>"
        #expect(try imported(attribute).error.contains("it declares an attribute"))
        let comment = "<gpx><!--" + String(repeating: "x", count: 2 << 20) + "--></gpx>"
        #expect(try imported(comment).error.contains("above 1 MiB"))
    }

    @Test func positionsBeforeAnErrorCount() throws {
        let points = (0..<9).map { "<trkpt lat='0' lon='\($0)'><time>2026-11-29T12:00:0\($0)Z</time></trkpt>" }
        let (sessions, counts, error) = try imported("<gpx>" + points.joined() + " & " + points.joined() + "</gpx>")
        #expect(error.contains("line 1") && sessions.first?.samples.count == 9 && counts.used == 9)
    }

    @Test(arguments: ["", "\n", " \n\r\n"]) func tablesMayBeginWithEmptyLines(lines: String) throws {
        let (sessions, counts, error) = try imported(lines + "time, x, y\n0, 100, 5\n1, 200, 5\n")
        #expect(error == "" && counts.omissions.isEmpty)
        #expect(sessions.first?.samples.map(\.center.x) == [100, 200])
    }

    /// Values that are blank or no numbers, in each column that a table may lack.
    @Test func rowsWithoutAValueAreBroken() throws {
        let rows = "0,0,0,9\n1,0,1,9\n2,0,2,\n3,0,3,x\n4,0,4\n"
        for name in ["zoom", "scale", "rotation", "downsample"] {
            let (sessions, counts, _) = try imported("time,lat,lon,\(name)\n" + rows)
            #expect(sessions.first?.samples.count == 2 && counts.omissions == [.broken: 3], "\(name)")
        }
    }

    @Test func centresBelowZeroMoveIntoTheWorld() throws {
        let session = try #require(try imported("time,x,y\n0,-300,-9\n1,-200,-9\n").sessions.first)
        #expect(session.samples.map(\.center) == [WorldPoint(x: 640, y: 360), WorldPoint(x: 740, y: 360)])
        #expect(session.header.world == .init(width: 2048, height: 2048))
        #expect(session.header.otherEntries.last?.value.contains("origin") == true)
    }

    /// Entries of other types are counted; the others are taken by time, in whatever order they stand.
    @Test func entriesOfHARFilesAreReadOneByOne() throws {
        func entry(_ second: Int, _ x: Int) -> String {
            #"{"startedDateTime": "2026-11-29T12:00:0\#(second)Z", "request": {"url": "/5/\#(x)/3.png"}}"#
        }
        let entries = [entry(4, 20), #"{"startedDateTime": 3}"#, "7", entry(0, 3), #"{"request": {"url": []}}"#]
        let (sessions, counts, error) = try imported(#"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#)
        #expect(error == "" && counts.entries == 5 && counts.omissions == [.broken: 3] && counts.reordered == 0)
        #expect(try #require(sessions.first?.samples.last).time == 4_000_000_000)
    }

    /// Prefixes of paths are kept for each client; a query is not.
    @Test func pathsOfTilesAreBounded() {
        func isTile(_ path: String) -> Bool { Array(path.utf8).withUnsafeBytes { TilePath($0) != nil } }
        let long = String(repeating: "p", count: 1024)
        #expect(isTile("/1/1/1.png?" + long) && isTile("/" + long.prefix(1013) + "/1/1/1.png"))
        #expect(!isTile("/" + long.prefix(1014) + "/1/1/1.png"))
    }

    /// Requests of sessions that are left out are not used.
    @Test func whatIsLeftOutIsNotUsed() throws {
        var log = ""
        for client in 0...Importer.mostSessions {
            for tile in ["/5/3/3.png", "/6/9/9.png"] {
                log += "c\(client) - - [29/Nov/2026:12:00:00 +0000] \"GET \(tile) HTTP/1.1\" 200 1 \"-\" \"Firefox\"\n"
            }
        }
        let counts = try imported(log).counts
        #expect(counts.sessions == 1000 && counts.used == 2000 && counts.omissions == [.tooMany: 1])
    }

    /// A far tile beside the first makes no view that a trace may not have.
    @Test func viewsAreBounded() {
        let requests = (0..<4000).map { LoggedTile(time: 0, zoom: 12, x: $0, y: 0) }
        let view = RequestPositions.trace(of: requests, tileSize: 512).viewport
        #expect(view.isViewport && view.width == 1e6)
    }

    /// Broken rows are lines too: Ctrl-C ends a table of nothing else.
    @Test func readingStopsWhereItIsAskedTo() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID()).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = "time,x,y\n" + String(repeating: "x\n", count: 0x20000)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        var importer = Importer(pause: 1_000_000_000) { _ in }
        _ = try importer.read(path: path) { _ in false }
        #expect(importer.counts.entries == 0xFFFF)
    }

    @Test func compressedFilesAreNamedWithWhatToDo() {
        let error = #expect(throws: ImportError.self) { try ImportKind.of(name: "a.gz", head: [0x1F, 0x8B, 8]) }
        #expect(error?.description.hasSuffix("zcat FILE | cachebench import - --output FOLDER") == true)
    }
}
