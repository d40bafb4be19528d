import CTileSQLite
import CacheBenchKit
import Testing

@testable import PanTraces
@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Ten times the input takes at most forty times the time. A quadratic cost would be a hundred times.
///
/// Measures the thread's CPU time, the least of three runs, and at least a millisecond: other work does not count.
@Suite(.serialized, .timeLimit(.minutes(45))) struct InputCostTests {
    private let folder = ScratchFolder()
    private let origin = TileCoordinate(level: 0, column: 0, row: 0)

    private func expectLinear(_ name: String, make: (Int) -> [UInt8], _ take: ([UInt8]) -> Void) {
        var last: Int64?
        for size in [1000, 10_000, 100_000] {
            let input = make(size)
            let cost =
                (0..<3).map { _ -> Int64 in
                    let start = MonotonicTime.ofThread.nanoseconds
                    take(input)
                    return MonotonicTime.ofThread.nanoseconds - start
                }.min() ?? 0
            if let last {
                #expect(cost <= 40 * last, "\(name): \(cost) ns for \(input.count) bytes, \(last) for a tenth")
            }
            last = max(cost, 1_000_000)
        }
    }

    /// A prefix, a part repeated as often as it fits, and a suffix.
    private func repeated(_ begin: String, _ part: String, _ end: String = "") -> (Int) -> [UInt8] {
        { size in Array((begin + String(repeating: part, count: size / part.utf8.count) + end).utf8) }
    }

    /// The kind of the first error of a trace; `nil` if it is read to its end.
    private func error(ofTrace bytes: [UInt8]) -> PanTraceError.Kind? {
        do throws(PanTraceError) {
            let reader = try PanTraceReader(bytes: bytes)
            while try reader.nextSample() != nil {}
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func traces() {
        let header = "# pan-trace: 1\n# viewport: 1000x470\n# world: 131072x131072\n# wraps_x: true\n# tile_size: 256\n"
        let columns = header + "time_s,center_x,center_y,scale\n"
        /// Longer lines are refused unread.
        func line(_ begin: String, _ part: String, _ end: String = "") -> (Int) -> [UInt8] {
            { size in repeated(begin, part, end)(min(size, LineReader.longestLine - 500)) }
        }
        // Of which a header has a thousand at most.
        let field = "# a: " + String(repeating: "b", count: 100) + "\n"
        let samples = { (size: Int) in
            Array((columns + (0..<size / 10).map { "\($0),1,1,1\n" }.joined()).utf8)
        }
        let inputs: [(name: String, error: PanTraceError.Kind?, make: (Int) -> [UInt8])] = [
            ("one line", .missingHeader, line("", "x")),
            ("header fields", .missingColumns, repeated("# pan-trace: 1\n", field)),
            ("digits", nil, line(columns + "0.", "0", "1,1,1,1")),
            ("exponents", nil, line(columns + "0,1e", "0", "1,1,1")),
            ("large exponents", .notFinite, line(columns + "0,1e", "9", ",1,1")),
            ("commas", .wrongColumnCount, line(columns + "0,1,1,1", ",")),
            ("empty lines", nil, repeated(columns + "0,1,1,1\n", "\n")), ("samples", nil, samples),
        ]
        for (name, kind, make) in inputs {
            expectLinear(name, make: make) { #expect(error(ofTrace: $0) == kind, "\(name)") }
        }
    }

    @Test func descriptors() {
        let size = "<Size Width='1' Height='1'/></Image>"
        // Two entities, none of them large, and one declaration of a value: all are refused.
        let entities = "<!DOCTYPE Image [<!ENTITY a 'x'><!ENTITY b '&a;'>]><Image>"
        let values = "<!DOCTYPE Image [<!ATTLIST a b CDATA 'x'>]><Image>"
        let nested = String(repeating: "<a>", count: 100)
        let inputs: [String: (Int) -> [UInt8]] = [
            "depth": repeated("<Image>" + nested, "<!---->"), "elements": repeated("<Image>", "<a/>"),
            "prefixes": repeated("<", "a:"), "value": repeated("<Image Format='", "x", "'>" + size),
            "entities": repeated(entities, "&b;", "</Image>"), "comments": repeated("<Image>", "<!---->"),
            "default values": repeated(values, "<a/>", "</Image>"),
            "attributes": { size in
                Array(("<Image " + (0..<size / 12).map { "a\($0)='' " }.joined() + "/>").utf8)
            },
        ]
        for (name, make) in inputs {
            expectLinear(name, make: make) { _ = try? DeepZoomDescriptor($0, path: "image.dzi") }
        }
    }

    /// None of many layers can be used, and what all of them need is as long as they are together.
    @Test func capabilities() throws {
        let choice = try WMTSChoice("http://h/c.xml")
        let layer =
            "<Layer><Identifier>a</Identifier><Format>image/png</Format><TileMatrixSetLink>"
            + "<TileMatrixSet>s</TileMatrixSet></TileMatrixSetLink></Layer>"
        /// Half of the size for the operation, half for the layers.
        func made(_ operation: @escaping (Int) -> String) -> (Int) -> [UInt8] {
            { size in
                let layers = String(repeating: layer, count: size / 2 / layer.utf8.count)
                let text =
                    "<Capabilities><OperationsMetadata><Operation name='GetTile'><DCP><HTTP>"
                    + operation(size / 2) + "</HTTP></DCP></Operation></OperationsMetadata><Contents>" + layers
                    + "<TileMatrixSet><Identifier>s</Identifier></TileMatrixSet></Contents></Capabilities>"
                return Array(text.utf8)
            }
        }
        /// Half of the size for layers, half for a matrix that all of them have and that lacks its last field.
        func matrix(_ size: Int) -> [UInt8] {
            let fields = [
                ("Identifier", "0"), ("ScaleDenominator", "1"), ("TopLeftCorner", "0 0"), ("TileWidth", "256"),
                ("TileHeight", "256"), ("MatrixWidth", "1"),
            ]
            let text =
                "<Capabilities><OperationsMetadata><Operation name='GetTile'><DCP><HTTP><Get href='http://h/'/></HTTP></DCP>"
                + "</Operation></OperationsMetadata><Contents>"
                + String(repeating: layer, count: size / 2 / layer.utf8.count)
                + "<TileMatrixSet><Identifier>s</Identifier><TileMatrix>" + String(repeating: "<a/>", count: size / 8)
                + fields.map { "<\($0)>\($1)</\($0)>" }.joined()
                + "</TileMatrix></TileMatrixSet></Contents></Capabilities>"
            return Array(text.utf8)
        }
        let inputs = [
            "matrix": matrix, "operations": made { String(repeating: "<Get/>", count: $0 / 6) },
            "address": made { "<Get href='http://h/\(String(repeating: "x", count: $0))'/>" },
        ]
        for (name, make) in inputs {
            expectLinear(name, make: make) { bytes in #expect((try? WMTSLayer(bytes, choice)) == nil, "\(name)") }
        }
    }

    @Test func images() throws {
        folder.write(TestImage(width: 32, height: 32).png, to: "0/0/0.png")
        let source = try FolderTileSource(path: folder.path)
        let image = TestImage(width: 32, height: 32)
        let (jpeg, webP) = (image.jpeg(), image.webP)
        func chunks(_ chunk: [UInt8]) -> (Int) -> [UInt8] {
            { size in HostileImages.png(side: 32, before: [UInt8]((0..<size / chunk.count).map { _ in chunk }.joined()))
            }
        }
        let inputs: [String: (Int) -> [UInt8]] = [
            "private chunks": chunks(HostileImages.chunk("prIv", [])),
            "text chunks": chunks(HostileImages.chunk("tEXt", [65, 0, 65])),
            "palettes": chunks(HostileImages.chunk("PLTE", [0, 0, 0])),
            "surplus": { HostileImages.png(side: 32, surplus: $0) },
            "JPEG markers": { size in
                Array(jpeg.prefix(2)) + [UInt8]((0..<size / 4).map { _ in [0xFF, 0xFE, 0, 2] }.joined())
                    + jpeg.dropFirst(2)
            },
            "JPEG fill": { Array(jpeg.prefix(2)) + [UInt8](repeating: 0xFF, count: $0) + jpeg.dropFirst(2) },
            "JPEG tables": { size in
                let table: [UInt8] = [0xFF, 0xC4, 0, 19, 0] + [UInt8](repeating: 0, count: 16)
                return Array(jpeg.prefix(2)) + [UInt8]((0..<size / 21).map { _ in table }.joined()) + jpeg.dropFirst(2)
            },
            "WebP chunks": { size in
                let body = [UInt8]((0..<size / 8).map { _ in Array("abcd".utf8) + [0, 0, 0, 0] }.joined())
                let header = Array("VP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 31, 0, 0, 31, 0, 0]
                let length = 4 + header.count + body.count
                let count = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
                return Array("RIFF".utf8) + count + Array("WEBP".utf8) + header + body
            },
            "after a WebP": { webP + [UInt8](repeating: 7, count: $0) },
        ]
        for (name, make) in inputs {
            expectLinear(name, make: make) { _ = try? source.decoded($0, of: origin) }
        }
    }

    @Test func addresses() {
        for part in ["{z}", "{x}/{y}/{z}", "{", "}", "{-y}", "http://", ":", "{q", "%"] {
            for begin in ["", "http://", "http://h/{z}/{x}/{y}", "mbtiles:", "xyz:"] {
                expectLinear("\(begin) and \(part)", make: repeated(begin, part)) { bytes in
                    let text = String(decoding: bytes, as: UTF8.self)
                    _ = TileSourceAddress(text)?.description
                    _ = HTTPAddress(text)
                    _ = (try? TileTemplate(text))?.address(zoom: 30, column: 1, row: 1)
                }
            }
        }
    }

    /// Files with growing tables. SQLite's heap grows no more than they do, except for a constant part.
    @Test func databases() {
        let image = TestImage(width: 32, height: 32).png
        let kinds: [String: (MadeMBTiles, Int) -> Void] = [
            "rows": { made, size in for row in 0..<size / 50 { made.set("key \(row)", "some value") } },
            "value": { made, size in made.set("bounds", String(repeating: "1,", count: size / 2)) },
            "spaces": { made, size in made.set("bounds", "1,1,1," + String(repeating: " ", count: size)) },
            "digits": { made, size in made.set("bounds", "1,1,1," + String(repeating: "1", count: size)) },
            "tables": { made, size in for table in 0..<size / 200 { made.run("CREATE TABLE t\(table) (a)") } },
            "columns": { made, size in
                made.run("CREATE TABLE t (\((0..<min(size / 10, 1900)).map { "c\($0)" }.joined(separator: ", ")))")
            },
            "views": { made, size in
                made.run("CREATE VIEW v0 AS SELECT 1")
                for view in 1..<size / 110 { made.run("CREATE VIEW v\(view) AS SELECT * FROM v\(view - 1)") }
            },
        ]
        for (name, fill) in kinds {
            var number = 0
            expectLinear(name) { size in
                number += 1
                let made = MadeMBTiles("\(folder.path)/\(name)\(number).mbtiles")
                made.run("BEGIN")
                made.add(0, 0, rowFromBottom: 0, image)
                fill(made, size)
                made.run("COMMIT")
                made.close()
                return Array(made.path.utf8)
            } _: { path in
                let path = String(decoding: path, as: UTF8.self)
                let before = sqlite3_memory_used()
                sqlite3_memory_highwater(1)
                #expect(message { _ = try MBTilesTileSource(path: path) }.isEmpty, "\(name)")
                #expect(sqlite3_memory_highwater(0) - before < 16 << 20)
            }
        }
    }

    @Test func folders() {
        expectLinear("files") { size in
            for file in 0..<size / 100 { folder.write([1], to: "\(size)/0/\(file)/\(file).txt") }
            folder.write(TestImage(width: 32, height: 32).png, to: "\(size)/0/0/0.png")
            return Array("\(folder.path)/\(size)".utf8)
        } _: { path in
            #expect(message { _ = try FolderTileSource(path: String(decoding: path, as: UTF8.self)) }.isEmpty)
        }
    }
}
