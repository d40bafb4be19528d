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

    /// All clocks have one bound.
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
}
