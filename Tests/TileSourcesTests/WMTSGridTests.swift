import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Places of WMTS matrices that begin at corners of their own.
@Suite struct WMTSGridTests {
    private struct Matrix {
        var denominator: String
        var corner: String
        var width: Int
        var height: Int
    }

    private func matrices(_ made: [Matrix], tile: Int = 256) throws -> [WMTSMatrix] {
        try made.enumerated().map { index, matrix in
            let text = """
                <TileMatrix><Identifier>\(index)</Identifier><ScaleDenominator>\(matrix.denominator)</ScaleDenominator>
                <TopLeftCorner>\(matrix.corner)</TopLeftCorner><TileWidth>\(tile)</TileWidth><TileHeight>\(tile)</TileHeight>
                <MatrixWidth>\(matrix.width)</MatrixWidth><MatrixHeight>\(matrix.height)</MatrixHeight></TileMatrix>
                """
            return try WMTSMatrix(try XMLElement(Array(text.utf8), path: "p", limit: 100), "p")
        }
    }

    /// An extent of 480 by 337.89 km, aligned below. By hand: 320 km a tile at 1250 m, 2.56 km at 10 m, so that the
    /// finest has 132 rows of 2.56 km, 337.92 km, and the coarsest 2 of 320 km: it begins 302.08 km higher.
    @Test(arguments: [false, true]) func gridsAlignedBelow(northFirst: Bool) throws {
        let (left, bottom, right, top) = (420_000.0, 30_000.0, 900_000.0, 367_890.0)
        let resolutions: [Double] = [1250, 500, 250, 100, 50, 20, 10]
        let made = try matrices(
            resolutions.map { resolution in
                let span = resolution * 256
                let (width, height) = (((right - left) / span).rounded(.up), ((top - bottom) / span).rounded(.up))
                let corner = [left, bottom + height * span]
                return Matrix(
                    denominator: "\(resolution / 0.00028)",
                    corner: (northFirst ? corner.reversed() : corner).map { "\($0)" }.joined(separator: " "),
                    width: Int(width),
                    height: Int(height)
                )
            }
        )
        let ratios = WMTSGrid.ratios(made)
        #expect(ratios == [125, 50, 25, 10, 5, 2, 1])
        let origins = WMTSGrid.origins(made, ratios, system: "urn:ogc:def:crs:EPSG::21781")
        #expect(origins[0] == WorldPoint(x: 0, y: -30_208) && origins[6] == WorldPoint(x: 0, y: 0))
        for (index, origin) in origins.enumerated() {
            let below = Double(made[index].height * 256) * ratios[index]
            #expect(origin?.x == 0 && (origin?.y ?? 0) + below == Double(made[6].height * 256))
        }
    }

    /// Degrees with the latitude first or last, and feet, which only the alignment tells.
    @Test func unitsOfTheSystem() throws {
        // Two rows of 90 degrees from -90; three of 50 from -90 end at 60.
        func degrees(_ corners: [String]) throws -> [WorldPoint?] {
            let sizes = [(90.0, 4, 2), (50, 8, 3)]
            let made = try matrices(
                zip(sizes, corners).map { size, corner in
                    Matrix(
                        denominator: "\(size.0 / 256 * 111_319.49079327358 / 0.00028)",
                        corner: corner,
                        width: size.1,
                        height: size.2
                    )
                }
            )
            let system = corners[0].hasPrefix("-180") ? "urn:ogc:def:crs:OGC:1.3:CRS84" : "urn:ogc:def:crs:EPSG::4326"
            return WMTSGrid.origins(made, WMTSGrid.ratios(made), system: system)
        }
        // 30 degrees are 153.6 pixels of 50 / 256 degrees.
        for corners in [["90 -180", "60 -180"], ["-180 90", "-180 60"]] {
            let origins = try degrees(corners)
            #expect(abs((origins[0]?.y ?? 0) + 153.6) < 1e-6 && origins[0]?.x == 0, "\(origins)")
        }
        // Rows of 256 x 20 and of 256 x 10 feet: 2 and 3 of them, so that the coarse one begins 2,560 feet higher.
        let feet = try matrices(
            [(20.0, "1000 15240", 2), (10, "1000 12680", 3)].map {
                Matrix(denominator: "\($0.0 * 1200 / 3937 / 0.00028)", corner: $0.1, width: 2, height: $0.2)
            }
        )
        let origins = WMTSGrid.origins(feet, WMTSGrid.ratios(feet), system: "EPSG:2263")
        #expect(origins == [WorldPoint(x: 0, y: -256), WorldPoint(x: 0, y: 0)])
    }

    /// A system's unit and order, both sides of each boundary.
    @Test func axesOfTheSystem() {
        func axes(_ code: Int, _ corner: [Double] = [90, -180]) -> WMTSAxes {
            WMTSAxes("urn:ogc:def:crs:EPSG::\(code)", corners: [[0, 0], corner])
        }
        let (degrees, metres) = ([111_319.49079327358], [1, 0.3048, 1200.0 / 3937])
        for code in [4000, 4326, 4999] { #expect(axes(code).units == degrees && axes(code).north == 0) }
        for code in [3999, 5000] { #expect(axes(code).units == metres && axes(code).north == nil) }
        #expect(axes(4326, [400, -400]).units == degrees)
        #expect(axes(4326, [400.5, 0]).units == metres && axes(4326, [0, -400.5]).units == metres)
        // Degrees beyond 90 are of the longitude.
        for (corner, north) in [([-90, 90], 0), ([-90.5, 90], 1), ([-180, 90.5], 0)] {
            #expect(axes(4326, corner).north == north, "\(corner)")
        }
        for code in [3857, 25_828, 25_838, 32_601, 32_660, 32_701, 32_760] { #expect(axes(code).north == 1, "\(code)") }
        for code in [25_827, 25_839, 32_600, 32_661, 32_700, 32_761] { #expect(axes(code).north == nil, "\(code)") }
        #expect(WMTSAxes("CRS84", corners: [[500, 0]]) == axes(4326, [-180, 90]))
    }

    /// Where both coordinates differ, the system's name has to tell their order.
    @Test func placesThatCannotBeTold() throws {
        // A coarse grid that begins 512 m to the west and 256 m to the north.
        let made = try matrices([
            Matrix(denominator: "\(2 / 0.00028)", corner: "-512 256", width: 4, height: 4),
            Matrix(denominator: "\(1 / 0.00028)", corner: "0 0", width: 4, height: 4),
        ])
        let ratios = WMTSGrid.ratios(made)
        #expect(WMTSGrid.origins(made, ratios, system: "EPSG:32632")[0] == WorldPoint(x: -512, y: -256))
        for system in ["EPSG:2193", nil] {
            let origins = WMTSGrid.origins(made, ratios, system: system)
            #expect(origins[0] == nil && origins[1] == WorldPoint(x: 0, y: 0))
        }
        // Beside the finest grid there is nothing of it.
        let far = try matrices([
            Matrix(denominator: "\(2 / 0.00028)", corner: "0 90000", width: 4, height: 4),
            Matrix(denominator: "\(1 / 0.00028)", corner: "0 0", width: 4, height: 4),
        ])
        #expect(WMTSGrid.origins(far, ratios, system: "EPSG:32632")[0] == nil)
    }

    /// Scales whose pixels in metres are no numbers, and a corner so far away that the matrix has no area there.
    @Test(arguments: [("1e-305", "1e-306", "0 100"), ("2e3", "1e3", "0 1e20"), ("2e3", "1e3", "1e300 -1e300")])
    func placesThatAreNoNumbers(coarse: String, fine: String, corner: String) throws {
        let made = try matrices([
            Matrix(denominator: coarse, corner: corner, width: 4, height: 4),
            Matrix(denominator: fine, corner: "0 0", width: 4, height: 4),
        ])
        let origins = WMTSGrid.origins(made, WMTSGrid.ratios(made), system: "EPSG:3857")
        #expect(origins == [nil, WorldPoint(x: 0, y: 0)])
    }

    /// Denominators are rounded to their digits. 266.6 and 533.2 are 267 and 533, whose ratio is 1.996.
    @Test func denominatorsAreRounded() throws {
        func ratios(_ denominators: [String]) throws -> [Double] {
            WMTSGrid.ratios(
                try matrices(denominators.map { Matrix(denominator: $0, corner: "0 0", width: 1, height: 1) })
            )
        }
        #expect(try ratios(["1066", "533", "267"]) == [4, 2, 1])
        #expect(try ratios(["17857", "8929", "4464", "2232"]) == [8, 4, 2, 1])
        #expect(try ratios(["559082264.0287178", "279541132.0143589"]) == [2, 1])
        // With more digits the same ratio is none of rounding.
        let kept = try ratios(["533.00", "267.00"])
        #expect(kept == [533.0 / 267, 1])
        #expect(try ratios(["2500", "1000"]) == [2.5, 1] && ratios(["5000", "2500", "1000"]) == [5, 2.5, 1])
        #expect(try ratios(["2.1e6", "1e6"]) == [2.1, 1])
        for (text, half) in [("1.25", 0.005), ("3", 0.5), ("12e2", 50), ("1.5E-3", 0.5e-4), ("7.", 0.5)] {
            #expect(abs(WMTSFields.rounding(of: text) - half) < 1e-12 * half)
        }
    }

    /// Drawn tiles of a grid that is aligned below are where the finest has the same: no level is shifted.
    @Test func tilesLieOverEachOther() throws {
        let server = try #require(DescribedServer())
        // 5 x 3 tiles of 64 pixels; the half has 3 x 2, which begin 64 pixels higher.
        let sizes = [(2.0, 3, 2), (1, 5, 3)]
        let text = sizes.enumerated().map { index, size in
            """
            <TileMatrix><Identifier>\(index)</Identifier><ScaleDenominator>\(size.0 / 0.00028)</ScaleDenominator>
            <TopLeftCorner>0 \(Double(size.2 * 64) * size.0)</TopLeftCorner><TileWidth>64</TileWidth>
            <TileHeight>64</TileHeight><MatrixWidth>\(size.1)</MatrixWidth><MatrixHeight>\(size.2)</MatrixHeight>
            </TileMatrix>
            """
        }
        server.add(
            """
            <Capabilities><Contents><Layer><Identifier>a</Identifier><Format>image/png</Format>
            <TileMatrixSetLink><TileMatrixSet>g</TileMatrixSet></TileMatrixSetLink>
            <ResourceURL format="image/png" resourceType="tile" template="\(server.root)/{TileMatrix}/{TileRow}/{TileCol}"/>
            </Layer><TileMatrixSet><Identifier>g</Identifier><SupportedCRS>EPSG:21781</SupportedCRS>\(text.joined())
            </TileMatrixSet></Contents></Capabilities>
            """,
            at: "/c.xml"
        )
        let source = try HTTPTileSource(wmts: "\(server.root)/c.xml")
        #expect(source.warning == nil && source.pyramid.worldWidth == 320 && source.pyramid.worldHeight == 192)
        let levels = source.pyramid.levels
        #expect(levels.map(\.origin) == [WorldPoint(x: 0, y: -64), WorldPoint(x: 0, y: 0)])
        #expect(levels[0].columns == 3 && levels[0].rows == 2)
        // The coarse tile at column 1, row 1 shows what is at 128, 64 in the finest.
        let tile = TileCoordinate(level: 0, column: 1, row: 1)
        #expect(source.pyramid.worldRectangle(of: tile) == PixelRect(minX: 128, minY: 64, maxX: 256, maxY: 192))
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(source.pyramid.worldRectangle(of: top) == PixelRect(minX: 0, minY: 0, maxX: 128, maxY: 64))
        #expect(
            source.pyramid.parent(of: TileCoordinate(level: 1, column: 2, row: 0))
                == TileCoordinate(level: 0, column: 1, row: 0)
        )
    }
}
