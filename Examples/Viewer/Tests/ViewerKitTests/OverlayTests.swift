import Foundation
import Testing
import TileCache
import TileDiskStore

@testable import ViewerKit

@Suite(.timeLimit(.minutes(2))) struct OverlayTests {
    /// Tiles of one colour each; a few are never answered.
    private struct Plain: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            if tile.column == 3 { return .absent }
            pixels.withUnsafeMutableBytes { bytes in for index in bytes.indices { bytes[index] = UInt8(index & 0xFF) } }
            return .pixels
        }
    }

    private func facts(_ stores: LayerStores? = nil) throws -> Overlay.Facts {
        let cache = try TileCache(byteLimit: .mebibytes(16))
        var options = LayerOptions()
        options.stores = stores
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096)
        let layer = try cache.addLayer(Plain(), pyramid: pyramid, options: options)
        let view = cache.makeView(layers: [layer])
        let viewport = TileViewport(center: WorldPoint(x: 900, y: 1000), width: 640, height: 400)
        _ = view.diagnostics()
        let deadline = Date().addingTimeInterval(60)
        repeat {
            view.update(viewport)
            Thread.sleep(forTimeInterval: 0.005)
        } while (view.frame().isEmpty || view.frame().missingTileCount > 0
            || view.diagnostics().expectedRectangle == nil) && Date() < deadline
        return Overlay.Facts(
            viewport: viewport,
            diagnostics: view.diagnostics(margin: Overlay.margin),
            statistics: cache.statistics,
            costs: FrameText(framesPerSecond: 60, late: 0, cost: FrameCosts()),
            stores: stores?.stores.map(\.label) ?? []
        )
    }

    /// From (580, 800) to (1220, 1200): columns 2 to 4, rows 3 and 4. Column 3 is absent.
    @Test func tilesOnScreenArePaintedByState() throws {
        let shapes = Overlay.tilesOnScreen(try facts())
        let fills = shapes.compactMap { shape -> (PixelRect, Colour)? in
            guard case .fill(let area, let colour) = shape else { return nil }
            return (area, colour)
        }
        #expect(fills.count == 6)
        for (area, colour) in fills {
            let isAbsent = area.minX == 768 - 580
            #expect(colour.with(alpha: 255) == Colour.of(isAbsent ? .absent : .decoded))
            #expect(area.width == 256 && area.height == 256)
        }
        // Its tile begins at (512, 768), left of the screen and above it.
        let label = Shape.text("4/2/3", x: -64, y: -28, .white)
        #expect(shapes.contains(label))
    }

    /// The view takes a third of the small map, in its middle.
    @Test func theInsetShowsTheViewInItsMiddle() throws {
        let facts = try facts()
        let shapes = Overlay.inset(facts)
        guard case .fill(let box, _) = try #require(shapes.first) else { return }
        #expect(box.maxX == 628 && box.maxY == 364 && box.width == 360 && box.height == 225)
        let view = shapes.compactMap { shape -> PixelRect? in
            guard case .outline(let area, .white) = shape else { return nil }
            return area
        }
        #expect(view == [PixelRect(minX: 388, minY: 214, maxX: 508, maxY: 289)])
        for shape in shapes {
            if case .fill(let area, _) = shape { #expect(area.intersection(box) == area) }
            if case .outline(let area, _) = shape { #expect(area.intersection(box) == area) }
        }
        // The view rests: its predicted position is the present one.
        #expect(shapes.contains(.outline(view[0], .cyan)))
    }

    /// Each state has one name; the bar uses the same names.
    @Test func theLegendNamesEachStateOnce() throws {
        let names = Overlay.legend.map(\.0)
        #expect(Set(names).count == names.count)
        #expect(names == ["missing", "loading", "compressed", "decoded", "stale", "absent", "failed", "tables"])
        for part in Overlay.MemoryPart.allCases {
            #expect(Overlay.legend.contains { $0.0 == part.rawValue && $0.1 == part.colour })
        }
        let colours = Overlay.legend.map(\.1)
        for (index, colour) in colours.enumerated() {
            #expect(contrast(colour, .panel) >= 2, "\(names[index])")
            for other in colours[..<index] { #expect(distance(colour, other) > 60, "\(names[index])") }
        }
        let shapes = Overlay.panel(try facts()) + Overlay.insetLegend(try facts())
        for name in names + ["view", "expected", "planned, in order"] {
            #expect(shapes.filter { if case .text(name, _, _, _) = $0 { true } else { false } }.count == 1, "\(name)")
        }
    }

    /// Each tier below memory has a row: writes of this cache, and reads of a second one.
    @Test func tiersHaveRows() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(16))
        defer { store.close() }
        let first = try facts(LayerStores([store], dataSet: ["plain"]))
        store.flush()
        let second = try facts(LayerStores([store], dataSet: ["plain"]))
        let patterns = [#/disk: 0 hits, [1-9]\d* misses, \d+ written.*/#, #/disk: [1-9]\d* hits.*/#]
        for (facts, pattern) in zip([first, second], patterns) {
            let rows = Overlay.text(facts).filter { $0.hasPrefix("disk") }
            #expect(rows.count == 1 && rows.first?.wholeMatch(of: pattern) != nil, "\(rows)")
        }
    }

    /// Letters stay within the panel.
    @Test func textFitsItsPanel() throws {
        for shapes in [Overlay.panel(try facts()), Overlay.insetLegend(try facts())] {
            guard case .fill(let box, _) = try #require(shapes.first) else { return }
            for case .text(let text, let x, let y, _) in shapes {
                #expect(x >= box.minX && x + Shape.width(of: text) <= box.maxX, "\(text)")
                #expect(y >= box.minY && y + Shape.lineHeight <= box.maxY, "\(text)")
            }
        }
    }

    /// Contrast ratio by WCAG's definition, 1 to 21.
    private func contrast(_ one: Colour, _ other: Colour) -> Double {
        func light(_ colour: Colour) -> Double {
            let parts = [colour.red, colour.green, colour.blue].map { value -> Double in
                let part = Double(value) / 255
                return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05
        }
        let (a, b) = (light(one), light(other))
        return max(a, b) / min(a, b)
    }

    private func distance(_ one: Colour, _ other: Colour) -> Double {
        func square(_ a: UInt8, _ b: UInt8) -> Double { (Double(a) - Double(b)) * (Double(a) - Double(b)) }
        return (square(one.red, other.red) + square(one.green, other.green) + square(one.blue, other.blue)).squareRoot()
    }

    /// A bar of 1000 pixels for the limit. Its parts are the bytes that the cache reports.
    @Test func theBarAddsUp() throws {
        let statistics = try facts().statistics
        let bar = PixelRect(minX: 0, minY: 0, maxX: 1000, maxY: 10)
        let shapes = Overlay.memory(statistics, in: bar)
        let parts = shapes.dropFirst().compactMap { shape -> PixelRect? in
            guard case .fill(let area, _) = shape else { return nil }
            return area
        }
        #expect(parts.first?.minX == 0)
        for (one, next) in zip(parts, parts.dropFirst()) { #expect(one.maxX == next.minX) }
        let share = try #require(parts.last).maxX / 1000
        #expect(share > 0 && share <= 1)
        #expect(share * Double(statistics.memory.limit.bytes) <= Double(statistics.memory.used.bytes) * 1.001)
    }

    @Test func figuresAreWrittenOut() throws {
        let text = Overlay.text(try facts())
        #expect(text[0] == "60 frames a second, 0 late")
        #expect(text.contains { $0.hasPrefix("hit rate - of 0 demands") })
        #expect(text.contains { $0.hasSuffix("of 16.0 MiB") })
    }
}
