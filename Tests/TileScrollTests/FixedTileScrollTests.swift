import Testing
import TileCache

@testable import TileScroll

@Suite struct FixedTileScrollTests {
    private let view = ScrollSize(width: 320, height: 460)

    private func tile(_ column: Int, _ row: Int) -> ScrollTile { ScrollTile(column: column, row: row) }

    /// 16000 / 320 = 50 columns and 11500 / 460 = 25 rows.
    @Test func aPlaneHasFourTilesWhereverOneLooks() throws {
        var model = try FixedTileScroll(view: view)
        #expect(model.columns == 50 && model.rows == 25)
        #expect(
            model.layoutTiles(at: milliseconds(0)).made.map(\.tile) == [tile(0, 0), tile(1, 0), tile(0, 1), tile(1, 1)]
        )

        // One tile to the right: the right two stay in their slots, the left two become the new right ones.
        model.handle(.scroll(by: .init(x: 330, y: 0)), at: milliseconds(10))
        let right = model.layoutTiles(at: milliseconds(10))
        #expect(right.kept == [.init(number: 1, tile: tile(1, 0)), .init(number: 3, tile: tile(1, 1))])
        #expect(right.retasked == [.init(number: 0, tile: tile(2, 0)), .init(number: 2, tile: tile(2, 1))])

        // Farther than the view is wide: no tile stays.
        model.handle(.scroll(by: .init(x: 1000, y: 1000)), at: milliseconds(20))
        #expect(model.layoutTiles(at: milliseconds(20)).retasked.count == 4)

        // At the far corner, where the upper left one would be (49, 24), it is (48, 23).
        model.handle(.scroll(by: .init(x: 1e6, y: 1e6)), at: milliseconds(30))
        #expect(model.offset(at: 30) == ScrollVector(x: 15_680, y: 11_040))
        let corner = model.layoutTiles(at: milliseconds(30)).shown.map(\.tile)
        #expect(Set(corner) == [tile(48, 23), tile(49, 23), tile(48, 24), tile(49, 24)])
        #expect(model.layoutTiles(at: milliseconds(31)).isEmpty)
    }

    /// One pixel before and at the edge of a tile.
    @Test func tilesChangeAtTheirEdges() throws {
        var model = try FixedTileScroll(view: view)
        _ = model.layoutTiles(at: milliseconds(0))
        model.handle(.scroll(by: .init(x: 319.999, y: 459.999)), at: milliseconds(1))
        #expect(model.layoutTiles(at: milliseconds(1)).isEmpty)
        model.handle(.scroll(by: .init(x: 0.001, y: 0)), at: milliseconds(2))
        #expect(model.layoutTiles(at: milliseconds(2)).retasked.map(\.tile) == [tile(2, 0), tile(2, 1)])
    }

    /// The first layout is for the new size already.
    @Test func aResizeBeforeTheFirstLayoutChangesNothingLater() throws {
        var model = try FixedTileScroll(view: view)
        model.handle(.resize(.init(width: 400, height: 500)), at: milliseconds(0))
        #expect(model.layoutTiles(at: milliseconds(1)).made.count == 4)
        #expect(model.layoutTiles(at: milliseconds(2)).isEmpty)
    }

    @Test func aWayThatIsNotANumberIsIgnored() throws {
        var model = try FixedTileScroll(view: view)
        for way in [ScrollVector(x: .nan, y: 0), ScrollVector(x: 0, y: .nan), ScrollVector(x: .nan, y: .nan)] {
            model.handle(.scroll(by: way), at: milliseconds(0))
            #expect(model.offset(at: 0) == .zero)
            _ = model.layoutTiles(at: milliseconds(0))
        }
    }

    @Test func aPlaneSmallerThanTwoViewsHasFourTilesToo() throws {
        var model = try FixedTileScroll(plane: .init(width: 100, height: 500), view: view)
        #expect(model.layoutTiles(at: milliseconds(0)).made.count == 4)
        #expect(model.rectangle(of: tile(1, 0)).isEmpty)
        #expect(model.rectangle(of: tile(0, 1)) == PixelRect(minX: 0, minY: 460, maxX: 100, maxY: 500))
    }

    @Test(arguments: 0..<15 as Range<UInt64>)
    func randomGestures(hundred: UInt64) { eachSeed(ofHundred: hundred, session) }

    private func session(seed: UInt64) throws {
        var gestures = RandomGestures(seed: seed, view: .init(width: 150 + Double(seed % 5) * 61, height: 300))
        let plane = seed % 3 == 0 ? FixedTileScroll.usualPlane : ScrollSize(width: 400, height: 1900)
        var model = try FixedTileScroll(plane: plane, view: gestures.view)
        var slots: [Int: ScrollTile] = [:]
        for _ in 0..<60 {
            let (event, time) = gestures.next()
            model.handle(event, at: time)
            let old = slots
            let changes = model.layoutTiles(at: time)
            for slot in changes.kept { try hold(old[slot.number] == slot.tile) }
            for slot in changes.retasked + changes.made { slots[slot.number] = slot.tile }
            try hold(slots.count == 4 && Set(slots.values).count == 4 && changes.shown.count == 4)
            try hold(changes.recycled.isEmpty)
            // Every visible part of the plane is in the four.
            let state = model.state(at: time)
            for (right, down) in [(0.0, 0.0), (1, 0), (0, 1), (1, 1)] {
                let point = state.offset + ScrollVector(x: gestures.view.width * right, y: gestures.view.height * down)
                let inside = ScrollVector(
                    x: point.x.clamped(to: 0...plane.width.nextDown),
                    y: point.y.clamped(to: 0...plane.height.nextDown)
                )
                try hold(
                    slots.values.contains { tile in
                        let box = model.rectangle(of: tile)
                        return box.minX <= inside.x && inside.x <= box.maxX && box.minY <= inside.y
                            && inside.y <= box.maxY
                    }
                )
            }
        }
        let end = gestures.rest(&model)
        let state = model.state(at: end)
        try hold(state.phase == .rest && state.scale == 1)
        try hold(state.offset.x >= 0 && state.offset.x <= max(0, plane.width - gestures.view.width))
        try hold(state.offset.y >= 0 && state.offset.y <= max(0, plane.height - gestures.view.height))
    }
}
