/// One factor of zooming out, as the JSON of `cachebench zoomout` has it.
public struct ZoomOutPicture: Codable, Sendable, Hashable {
    /// How many times smaller the world is drawn.
    public var factor: Double
    /// Bytes of one bitmap of all that is on screen, at full resolution scaled down.
    public var bitmapBytes: Double
    /// Bytes of the full-resolution tiles under the screen.
    public var fullResolutionBytes: Double
    /// Tiles that the screen needs.
    public var neededTiles: Int
    /// Their bytes.
    public var neededBytes: Double
    /// The most bytes in use.
    public var peakBytes: Double
    /// Hits over demands.
    public var hitRate: Double?
    /// Share of the area drawn with the exact tiles.
    public var sharp: Double?
    /// Share not drawn.
    public var blank: Double?
}

/// Zooming out as a page to look at.
public enum ZoomOutPage {
    private struct Report: Codable {
        var rows: [ZoomOutPicture]
        var interrupted: Bool?
    }

    /// The page, whole.
    ///
    /// - Parameter report: anything whose JSON has `rows` of ``ZoomOutPicture``.
    /// - Throws: ``CheckError`` where it has none.
    public static func text(_ report: some Encodable) throws -> String {
        let tree = try JSONTree(encoding: report)
        guard let read = try? JSONTree.decoded(Report.self, tree) else {
            throw CheckError("zoomout: rows with factor, bitmapBytes and the other fields are expected")
        }
        return try text(
            rows: read.rows.sorted { $0.factor < $1.factor },
            isWhole: read.interrupted != true,
            data: JSONText.embedded(report)
        )
    }

    private static func text(rows: [ZoomOutPicture], isWhole: Bool, data: String) throws -> String {
        var page = Page(
            title: "Zooming out",
            lead: "What a view needs in memory when it is zoomed out, by how it is drawn"
                + (isWhole ? "" : "; interrupted: these are the factors that were done")
        )
        guard let last = rows.last else {
            page.sentence("There are no rows.")
            return page.text(data: data, foot: "cachebench \(BenchVersion.program)")
        }
        let factor = Figures.decimal(last.factor, places: last.factor == last.factor.rounded() ? 0 : 1)
        page.figures([
            (Figures.bytes(last.bitmapBytes), "one bitmap, zoomed out \(factor) times"),
            (Figures.bytes(last.neededBytes), "needed tiles of the level that is drawn"),
            (Figures.bytes(last.peakBytes), "most in use"),
            (Figures.percent(last.blank), "blank area"),
        ])
        let lines: [(String, (ZoomOutPicture) -> Double)] = [
            ("one bitmap", { $0.bitmapBytes }), ("full-resolution tiles", { $0.fullResolutionBytes }),
            ("needed tiles", { $0.neededBytes }), ("most in use", { $0.peakBytes }),
        ]
        let times = last.neededBytes > 0 ? last.bitmapBytes / last.neededBytes : 0
        let values = rows.flatMap { row in lines.map { $0.1(row) } }.filter { $0 > 0 }
        page.picture(
            "Memory by how far it is zoomed out",
            sentence:
                "Zoomed out \(factor) times one bitmap takes \(Figures.bytes(last.bitmapBytes)), the tiles that the screen "
                + "needs take \(Figures.bytes(last.neededBytes)): "
                + "\(Figures.decimal(times, places: times < 100 ? 1 : 0)) times less.",
            draw: LineChart(
                x: { _ in
                    Axis(
                        logarithmic: "zoomed out, times",
                        unit: .count,
                        from: rows[0].factor,
                        upTo: last.factor,
                        base: 2
                    )
                },
                y: Axis(
                    logarithmic: "memory",
                    unit: .bytes,
                    from: values.min() ?? 1,
                    upTo: values.max() ?? 2,
                    base: 4
                ),
                series: lines.enumerated().map { index, line in
                    ChartSeries(
                        name: line.0,
                        points: rows.filter { line.1($0) > 0 }.map { ($0.factor, line.1($0)) },
                        look: [1, 4, 0, 2][index]
                    )
                }
            ).draw
        )
        page.table(
            "Figures",
            columns: [
                "zoomed out", "one bitmap", "full resolution", "tiles", "needed", "most in use", "hits", "sharp",
                "blank",
            ],
            rows: rows.map { row in
                [
                    Figures.decimal(row.factor, places: row.factor == row.factor.rounded() ? 0 : 1) + " times",
                    Figures.bytes(row.bitmapBytes), Figures.bytes(row.fullResolutionBytes),
                    Figures.count(row.neededTiles),
                    Figures.bytes(row.neededBytes), Figures.bytes(row.peakBytes), Figures.percent(row.hitRate),
                    Figures.percent(row.sharp), Figures.percent(row.blank),
                ]
            },
            extra: ["full resolution", "tiles", "hits", "sharp", "blank"]
        )
        return page.text(
            data: data,
            foot: "cachebench \(BenchVersion.program), definitions \(BenchVersion.definitions)"
        )
    }
}

extension Figures {
    /// As for whole bytes; counts too large for those are the largest.
    fileprivate static func bytes(_ value: Double) -> String { bytes(Int(min(max(value, 0), 0x1p62))) }
}
