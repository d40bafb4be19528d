import Testing
import TileCache

@testable import TileScroll

@Suite struct InfiniteZoomScrollTests {
    private let view = ScrollSize(width: 320, height: 460)

    private func model() throws -> InfiniteZoomScroll { try InfiniteZoomScroll(world: view, view: view) }

    /// 0.9 of the view is 288 x 414, in its middle. It begins 16 and 23 px from the view's edges.
    @Test func startsAtNineTenthsOfTheView() throws {
        var model = try model()
        let state = model.state(at: milliseconds(0))
        #expect(state.scale == 0.9)
        #expect(state.offset == ScrollVector(x: -16, y: -23))
        #expect(abs(state.viewport.center.x - 160) < 1e-12 && abs(state.viewport.center.y - 230) < 1e-12)
        let changes = model.layoutTiles(at: milliseconds(0))
        #expect(
            changes.made.map(\.tile) == [
                .init(column: 0, row: 0), .init(column: 1, row: 0), .init(column: 0, row: 1), .init(column: 1, row: 1),
            ]
        )
        // The last tile is cut to the 288 x 414 px of the content.
        #expect(model.rectangle(of: .init(column: 1, row: 1)) == PixelRect(minX: 256, minY: 256, maxX: 288, maxY: 414))
    }

    /// The legal offsets go from -160 to 288 - 160. A corner of the content can be in the middle, but not farther.
    @Test func aCornerReachesTheMiddleAndNoFarther() throws {
        var model = try model()
        let (middle, exact) = (ScrollVector(x: 160, y: 230), ScrollVector(x: 160 + 144, y: 230 + 207))
        model.pull([(middle, exact)], from: 0, to: 200)
        model.handle(.touchCancelled(id: 0), at: milliseconds(200))
        #expect(model.offset(at: 200) == ScrollVector(x: -160, y: -230))
        #expect(model.destination == nil)
        // After 100 px more 46.93 of it are visible, although there is less content than view; after release it
        // returns.
        model.pull([(middle, middle + ScrollVector(x: 100, y: 0))], from: 1000, to: 1200)
        #expect(abs(model.offset(at: 1200).x - (-160 - 46.9333333)) < 1e-6)
        model.handle(.touchCancelled(id: 0), at: milliseconds(1200))
        #expect(model.destination?.viewport.center == WorldPoint(x: 0, y: 0))
        #expect(model.offset(at: 9000) == ScrollVector(x: -160, y: -230))
    }

    /// Doubled about its middle (144, 207 px). The content's visible part starts at (128, 184) with 64 x 92 px of the
    /// drawn content.
    @Test func aPinchScalesAndItsEndTransfers() throws {
        var model = try model()
        _ = model.layoutTiles(at: milliseconds(0))
        let middle = ScrollVector(x: 160, y: 230)
        model.pull(
            [
                (middle - .init(x: 10, y: 0), middle - .init(x: 20, y: 0)),
                (middle + .init(x: 10, y: 0), middle + .init(x: 20, y: 0)),
            ],
            from: 0,
            to: 100
        )
        #expect(model.relativeScale == 2 && model.drawnScale == 0.9)
        #expect(model.offset(at: 100).isClose(to: .init(x: 128, y: 184)))
        let during = model.layoutTiles(at: milliseconds(100))
        // 64 to 224 across and 92 to 322 down: column 0, rows 0 and 1.
        #expect(during.kept.map(\.tile) == [.init(column: 0, row: 0), .init(column: 0, row: 1)])
        #expect(during.recycled.count == 2 && during.made.isEmpty && during.retasked.isEmpty)

        model.handle(.touchEnded(id: 0), at: milliseconds(100))
        #expect(model.relativeScale == 1 && model.drawnScale == 1.8)
        #expect(model.offset(at: 100).isClose(to: .init(x: 128, y: 184)))
        let after = model.layoutTiles(at: milliseconds(100))
        // 128 to 448 across and 184 to 644 down: two columns, three rows; all new, four of them in old slots.
        #expect(after.recycled.count == 2 && after.kept.isEmpty)
        #expect(after.retasked.count == 4 && after.made.count == 2)
        #expect(model.layoutTiles(at: milliseconds(101)).isEmpty)
    }

    @Test func eachPinchGoesFromAHalfToTwo() throws {
        var model = try model()
        let middle = ScrollVector(x: 160, y: 230)
        model.pinch(about: middle, by: 7, from: 0, to: 100)
        #expect(model.drawnScale == 1.8)
        model.pinch(about: middle, by: 0.05, from: 5000, to: 5100)
        #expect(model.drawnScale == 0.9)
        // 60 pinches to a scale beyond any bitmap, and back.
        for step in 0..<40 {
            model.pinch(about: middle, by: 3, from: 10_000 + Double(step) * 5000, to: 10_100 + Double(step) * 5000)
        }
        #expect(model.drawnScale == 0.9 * 0x1p40)
        for step in 0..<60 {
            model.pinch(about: middle, by: 0.2, from: 300_000 + Double(step) * 5000, to: 300_100 + Double(step) * 5000)
        }
        #expect(model.drawnScale == 0.9 * 0x1p-20)
    }

    @Test func refusesWhatCannotBeShown() {
        #expect(throws: ScrollError.self) { try InfiniteZoomScroll(world: .init(width: .nan, height: 1), view: view) }
        #expect(throws: ScrollError.self) { try InfiniteZoomScroll(world: view, view: .init(width: 0, height: 1)) }
        #expect(throws: ScrollError.self) { try InfiniteZoomScroll(world: view, view: view, tileSize: 0.1) }
    }

    @Test func noPinchLeavesWhatFloatingPointCanHold() throws {
        var model = try model()
        for step in 0..<200 {
            model.pinch(about: .init(x: 50, y: 60), by: 2, from: Double(step) * 9000, to: Double(step) * 9000 + 100)
            _ = model.layoutTiles(at: milliseconds(Double(step) * 9000 + 200))
        }
        #expect(model.drawnScale * 460 == 0x1p52)
        #expect(model.state(at: milliseconds(1e7)).viewport.isDrawable)
    }

    @Test(arguments: 0..<15 as Range<UInt64>)
    func randomGestures(hundred: UInt64) { eachSeed(ofHundred: hundred, session) }

    private func session(seed: UInt64) throws {
        var gestures = RandomGestures(seed: seed, view: .init(width: 200 + Double(seed % 7) * 40, height: 300))
        let world = ScrollSize(width: 500 + Double(seed % 11) * 900, height: 4000)
        var model = try InfiniteZoomScroll(world: world, view: gestures.view, tileSize: 64)
        var shown: [Int: ScrollTile] = [:]
        var witness = PinchWitness()
        var worst = 0.0
        for _ in 0..<60 {
            let (event, time) = gestures.next()
            model.handle(event, at: time)
            let state = model.state(at: time)
            try hold(state.viewport.isDrawable)
            try hold((0.4999999...2.0000001).contains(model.relativeScale))
            let content = ScrollSize(width: world.width * state.scale, height: world.height * state.scale)
            let view = gestures.view
            let isFree =
                abs(state.offset.x - (content.width - view.width) / 2) < content.width / 2 - 1
                && abs(state.offset.y - (content.height - view.height) / 2) < content.height / 2 - 1
                && (0.51...1.99).contains(model.relativeScale)
            let fingers = gestures.down.prefix(2)
            let middle = gestures.down.count == 2 ? (fingers[0].place + fingers[1].place) * 0.5 : nil
            worst = max(worst, witness.look(state, middle: middle, isFree: isFree))

            // Slots as a renderer would keep them, against the needed tiles of a naive model.
            let changes = model.layoutTiles(at: time)
            for slot in changes.recycled { try hold(shown.removeValue(forKey: slot.number) == slot.tile) }
            for slot in changes.kept { try hold(shown[slot.number] == slot.tile) }
            for slot in changes.retasked + changes.made {
                try hold(shown.updateValue(slot.tile, forKey: slot.number) == nil)
            }
            let needed = naiveTiles(state, world: world, view: view, drawnScale: model.drawnScale, tileSize: 64)
            try hold(Set(shown.values) == needed && shown.count == needed.count)
        }
        try hold(worst <= 1)
        let end = gestures.rest(&model)
        let state = model.state(at: end)
        try hold(state.phase == .rest && model.relativeScale == 1)
        try hold(state.offset.x >= -gestures.view.width / 2 && state.offset.y >= -gestures.view.height / 2)
        try hold(state.offset.x <= world.width * state.scale - gestures.view.width / 2 + 1e-9)
        try hold(state.offset.y <= world.height * state.scale - gestures.view.height / 2 + 1e-9)
    }

    /// A view of w x 8 px takes (w + 2)(8 + 2) tiles. They have 1 px a side: a million for 99,998.
    @Test func aViewThatTakesAMillionTilesIsRefusedAtFirstAndLater() throws {
        let (world, largest) = (ScrollSize(width: 100, height: 100), ScrollSize(width: 99_997, height: 8))
        let tooLarge = ScrollSize(width: 99_998, height: 8)
        #expect(throws: ScrollError.self) { try InfiniteZoomScroll(world: world, view: tooLarge, tileSize: 1) }
        var model = try InfiniteZoomScroll(world: world, view: world, tileSize: 1)
        let before = model.state(at: milliseconds(1))
        model.handle(.resize(tooLarge), at: milliseconds(0))
        #expect(model.state(at: milliseconds(1)) == before)
        model.handle(.resize(largest), at: milliseconds(2))
        #expect(model.state(at: milliseconds(2)).viewport.width == 99_997)
    }

    /// Each tile of the grid is examined alone. Does it share any area with the visible content?
    private func naiveTiles(
        _ state: ScrollState,
        world: ScrollSize,
        view: ScrollSize,
        drawnScale: Double,
        tileSize: Double
    ) -> Set<ScrollTile> {
        let factor = drawnScale / state.scale
        let (left, top) = (state.offset.x * factor, state.offset.y * factor)
        let (right, bottom) = (left + view.width * factor, top + view.height * factor)
        func indices(_ low: Double, _ high: Double, _ size: Double) -> [Int] {
            let low = max(low, 0)
            let high = min(high, size)
            guard low < high else { return [] }
            let first = max(0, Int(low / tileSize) - 2)
            return (first...(Int(high / tileSize) + 2)).filter { index in
                Double(index) * tileSize < high && Double(index + 1) * tileSize > low
            }
        }
        let columns = indices(left, right, world.width * drawnScale)
        let rows = indices(top, bottom, world.height * drawnScale)
        return Set(rows.flatMap { row in columns.map { ScrollTile(column: $0, row: row) } })
    }
}
