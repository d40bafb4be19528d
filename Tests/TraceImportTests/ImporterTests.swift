import Foundation
import PanTraces
import Testing
import TileCache

@testable import TraceImport

@Suite struct ImporterTests {
    private static let minute: Int64 = 60_000_000_000

    private func imported(
        _ text: String,
        name: String = "file",
        pause: Int64 = 10 * minute
    ) throws -> (sessions: [ImportedSession], counts: ImportCounts, kind: ImportKind) {
        var sessions: [ImportedSession] = []
        var importer = Importer(pause: pause) { sessions.append($0) }
        let kind = try importer.read(bytes: Array(text.utf8), name: name)
        try importer.finish()
        return (sessions, importer.counts, kind)
    }

    /// One line of a log, some seconds after 12 o'clock.
    private func line(_ second: Int, _ path: String, client: String = "10.0.0.1", agent: String = "Firefox") -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let time = "\(two(12 + second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(client) - - [29/Nov/2026:\(time) +0000] \"GET \(path) HTTP/1.1\" 200 1 \"-\" \"\(agent)\"\n"
    }

    private func view(_ second: Int, _ x: Int, client: String = "10.0.0.1", agent: String = "Firefox") -> String {
        (0..<5).flatMap { column in
            (0..<4).map { line(second, "/5/\(x + column)/\($0).png", client: client, agent: agent) }
        }.joined()
    }

    @Test func aLogBecomesOneTraceForEachClient() throws {
        let log = view(0, 3) + view(0, 9, client: "10.0.0.2") + view(5, 4) + view(6, 10, client: "10.0.0.2")
        let (sessions, counts, kind) = try imported(log)
        #expect(kind == .accessLog && sessions.count == 2)
        #expect(counts.entries == 80 && counts.used == 80 && counts.omissions.isEmpty)
        for session in sessions {
            #expect(session.header.viewport == .init(width: 1024, height: 768))
            #expect(session.header.world == .init(width: 8192, height: 8192))
            #expect(session.header.otherEntries.map(\.key) == ["imported", "guessed"])
            var position = 0
            let text = try #require(session.text(from: &position))
            #expect(session.text(from: &position) == nil && !text.contains("10.0.0"))
            let reader = try PanTraceReader(text: text)
            for sample in session.samples { #expect(try reader.nextSample() == sample) }
            #expect(try reader.nextSample() == nil)
        }
    }

    /// Both sides of a pause of a minute, and of a time that goes back as far.
    @Test(arguments: [(60, 1), (61, 2), (-60, 1), (-61, 2)])
    func aPauseEndsASession(seconds: Int, count: Int) throws {
        let log = view(100, 3) + view(101, 4) + view(101 + seconds, 9) + view(102 + seconds, 10)
        let (sessions, counts, _) = try imported(log, pause: Self.minute)
        #expect(sessions.count == count)
        #expect(counts.reordered == (seconds == -60 ? 40 : 0))
    }

    @Test func whatIsNoPersonsViewIsCounted() throws {
        let flood = (0...1000).map { line(9, "/12/\($0)/5.png", client: "10.0.0.9") }.joined()
        let log =
            view(0, 3) + view(5, 4) + view(0, 3, agent: "Googlebot/2.1") + flood + "broken\n" + line(1, "/index.html")
            + line(1, "/2/4/0.png") + String(repeating: "x", count: 300_000) + "\n"
            + view(3, 3, client: "10.0.0.3")
        let (sessions, counts, _) = try imported(log)
        #expect(sessions.count == 1)
        #expect(
            counts.omissions == [.robots: 20 + 1001, .broken: 2, .noTile: 1, .outside: 1, .still: 1]
        )
        let summary = ImportSummary.text(counts, folder: "traces/")
        #expect(summary.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(summary)")
        #expect(summary.contains("     1021  requests of robots"))
    }

    /// More clients than are kept at once: all become sessions, the first thousand are written.
    @Test func manyClientsNeedBoundedMemory() throws {
        var log = ""
        for client in 0..<(ClientSessions.mostClients + 1) {
            log += line(client / 10, "/5/3/3.png", client: "c\(client)")
            log += line(client / 10, "/6/9/9.png", client: "c\(client)")
        }
        var importer = Importer(pause: 60 * Self.minute) { _ in }
        _ = try importer.read(bytes: Array(log.utf8), name: "log")
        // A quarter was ended to make room for the last one.
        #expect(importer.counts.sessions == 1000)
        #expect(importer.counts.omissions[.tooMany] == ClientSessions.mostClients / 4 - 1000)
        try importer.finish()
        #expect(importer.counts.omissions[.tooMany] == ClientSessions.mostClients + 1 - 1000)
    }

    /// Any bytes: nothing traps, and all lines are counted.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func damagedLogsAreReadToTheirEnd(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var bytes = Array((view(0, 3) + view(5, 4) + view(9, 5)).utf8)
        let head = bytes.prefix(200)
        for _ in 0..<400 {
            let index = 200 + Int(random.next() % UInt64(bytes.count - 200))
            bytes[index] = UInt8(truncatingIfNeeded: random.next())
        }
        #expect(head.elementsEqual(bytes.prefix(200)))
        var importer = Importer(pause: Self.minute) { _ in }
        #expect(try importer.read(bytes: bytes, name: "log") == .accessLog)
        try importer.finish()
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).count - (bytes.last == 10 ? 1 : 0)
        #expect(importer.counts.entries == lines, "seed \(seed)")
    }

    @Test func aHARFileBecomesATrace() throws {
        func entry(_ time: String, _ x: Int, _ y: Int) -> String {
            """
            {"startedDateTime": "2026-11-29T12:00:\(time)+01:00", "time": 3,
             "request": {"method": "GET", "url": "https://a.tile.example/m/5/\(x)/\(y)@2x.png?key=1", "headers": []}}
            """
        }
        var entries = (0..<5).flatMap { x in (0..<4).map { entry("01.250", 3 + x, $0) } }
        entries += (0..<4).map { entry("02.500", 8, $0) }
        entries.append(#"{"startedDateTime": "yesterday", "request": {"url": "/1/0/0"}}"#)
        let (sessions, counts, kind) = try imported(#"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#)
        #expect(kind == .har && counts.entries == 25 && counts.used == 24 && counts.omissions == [.broken: 1])
        let session = try #require(sessions.first)
        #expect(session.header.tileSize == 512 && session.header.world == .init(width: 16_384, height: 16_384))
        #expect(session.samples.map(\.time) == [0, 850_000_000, 1_250_000_000])
        #expect(throws: ImportError.self) { try imported(#"{"log": {"entries": ["#) }
        #expect(throws: ImportError.self) { try imported(#"{"log": 3}"#) }
    }

    @Test func aTrackBecomesATrace() throws {
        let gpx = """
            <?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><metadata><time>2020-01-01T00:00:00Z</time>
            </metadata><trk><trkseg>
            <trkpt lat="0" lon="0"><ele>4</ele><time>2026-11-29T12:00:00Z</time></trkpt>
            <trkpt lat="0" lon="0.001"><time>2026-11-29T12:00:05.5Z</time></trkpt>
            <trkpt lat="0" lon="0.001"><time>2026-11-29T12:00:05.5Z</time></trkpt>
            <trkpt lat="0" lon="0.002"></trkpt><trkpt lat="95" lon="0"></trkpt>
            </trkseg></trk></gpx>
            """
        let (sessions, counts, kind) = try imported(gpx)
        #expect(kind == .gpx && counts.entries == 5 && counts.used == 2)
        #expect(counts.omissions == [.backwards: 1, .noTime: 1, .broken: 1])
        let samples = try #require(sessions.first).samples
        #expect(samples.map(\.time) == [0, 5_500_000_000] && samples[0].scale == 0x1p-5)
        #expect(samples[0].center == WorldPoint(x: 0x1p27, y: 0x1p27))
        #expect((samples[1].center.x - 0x1p27 - 0.001 / 360 * 0x1p28).magnitude < 1e-6)
        // A file that breaks off keeps what came before.
        var importer = Importer(pause: Self.minute) { _ in }
        let end = try #require(gpx.range(of: "</trkseg>")).lowerBound
        #expect(throws: ImportError.self) {
            _ = try importer.read(bytes: Array(gpx[..<end].utf8), name: "a.gpx")
        }
        #expect(importer.counts.sessions == 1)
    }

    @Test func aTourBecomesATrace() throws {
        let kml = """
            <kml xmlns:gx="g"><Document><gx:Tour><gx:Playlist>
            <gx:FlyTo><gx:duration>3</gx:duration><LookAt><longitude>0</longitude><latitude>0</latitude>
            <range>1000</range></LookAt></gx:FlyTo>
            <gx:Wait><gx:duration>2</gx:duration></gx:Wait>
            <gx:FlyTo><gx:duration>1</gx:duration><Camera><longitude>0.01</longitude><latitude>0</latitude>
            <altitude>500</altitude><heading>90</heading></Camera></gx:FlyTo>
            </gx:Playlist></gx:Tour></Document></kml>
            """
        let (sessions, _, kind) = try imported(kml)
        let samples = try #require(sessions.first).samples
        #expect(kind == .kml)
        let times = [0, 20] + (21...30).map { $0 }
        #expect(samples.map(\.time) == times.map { Int64($0) * 100_000_000 })
        #expect(samples.last?.rotation == .pi / 2)
        let first = samples[0].scale
        #expect(try (#require(samples.last).scale / first - 2).magnitude < 1e-9)
        // 720 pixels show 2 * 1000 m * tan 30 degrees; a world pixel is 40,075,016.7 m / 2^28.
        #expect((first * (1154.7005 / 720) / (40_075_016.7 / 0x1p28)).distance(to: 1).magnitude < 1e-6)
    }

    @Test func tablesAreReadByTheNamesOfTheirColumns() throws {
        let slide =
            "Timestamp\tX\tY\tWidth\tHeight\tCanvas width\tCanvas height\tDownsample factor\tRotation\tCursor X\n"
            + "0\t100\t200\t800\t600\t400\t300\t2.0\t0.0\t5\n250\t300\t200\t800\t600\t400\t300\t2.0\t0.5\t5\nx\t1\n"
        let (slides, counts, kind) = try imported(slide, name: "slide.tsv")
        #expect(kind == .table && counts.omissions == [.broken: 1])
        #expect(slides.first?.header.viewport == .init(width: 400, height: 300))
        #expect(slides.first?.header.world == .init(width: 2048, height: 2048))
        #expect(
            slides.first?.samples == [
                PanTraceSample(time: 0, center: WorldPoint(x: 500, y: 500), scale: 0.5),
                PanTraceSample(time: 250_000_000, center: WorldPoint(x: 700, y: 500), scale: 0.5, rotation: 0.5),
            ]
        )
        let plain = "\"y\";\"note\";\"x\";\"time_ms\"\n5;\"a; b\";7;0\n5;;9;40\n"
        let table = try imported(plain).sessions.first
        #expect(table?.samples.map(\.center) == [WorldPoint(x: 7, y: 5), WorldPoint(x: 9, y: 5)])
        #expect(table?.samples.map(\.time) == [0, 40_000_000])
        #expect(table?.header.otherEntries.last?.value.contains("scale") == true)
        let degrees = try imported("time,lat,lon,zoom\n2026-11-29T12:00:00Z,0,0,18\n2026-11-29T12:00:01Z,0,1,19\n")
        #expect(degrees.sessions.first?.samples.map(\.scale) == [0.25, 0.5])
    }

    /// Numbers out of any range: counted as broken, and nothing traps.
    @Test(arguments: [
        "time,x,y,scale\n0,0,0,1\n1e300,0,0,1\n1,1e308,1e308,1e-308\n2,5,5,0\n3,5,5,1e999\n-4e9,0,0,1\nnan,0,0,1\n",
        "time,lat,lon,zoom\n0,0,0,1e300\n1,nan,0,3\n2,0,1e300,3\n9999-01-01T00:00:00Z,0,0,3\n",
        "Timestamp\tX\tY\tWidth\tHeight\tDownsample factor\n0\t1\t1\t1e308\t1e308\t0\n9\t1\t1\t-1\t-1\t1e-320\n",
        "<gpx><trkpt lat='0' lon='0'><time>9999-01-01T00:00:00Z</time></trkpt><trkpt lat='x'/></gpx>",
        "<kml><FlyTo><duration>1e300</duration><longitude>0</longitude><latitude>0</latitude><range>1e300</range></FlyTo>"
            + "<FlyTo><longitude>0</longitude><latitude>0</latitude><range>0</range></FlyTo>"
            + "<FlyTo><duration>nan</duration><longitude>9</longitude><latitude>9</latitude><range>1e9</range>"
            + "<heading>1e308</heading></FlyTo><Wait><duration>-1</duration></Wait></kml>",
    ])
    func numbersOutOfRangeDoNotTrap(text: String) throws {
        let (sessions, counts, _) = try imported(text)
        #expect(counts.entries > 0 && counts.omissions.values.reduce(0, +) > 0)
        for session in sessions {
            var position = 0
            let reader = try PanTraceReader(text: #require(session.text(from: &position)))
            _ = try PanTraceScene(reader.header, name: "imported")
            while try reader.nextSample() != nil {}
        }
    }

    @Test func otherFilesAreNamed() {
        for (text, words) in [
            ("# pan-trace: 1\n", "already"), ("\u{1F}\u{8B}", "none of"), ("PK\u{3}\u{4}", "ZIP"),
            ("a,b\n1,2\n", "none of"), ("", "none of"),
        ] {
            let error = #expect(throws: ImportError.self) { try imported(text) }
            #expect(error?.description.contains(words) == true, "\(text)")
        }
        #expect(throws: ImportError.self) { try ImportKind.of(name: "a.gz", head: [0x1F, 0x8B, 8]) }
        #expect(throws: Never.self) { try ImportKind.of(name: "access.log", head: "broken\n".utf8) }
    }
}
