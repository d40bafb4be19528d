import Foundation
import Testing
import TileCache
import TileScroll

@testable import ViewerKit

/// Input of a renderer with texture slots, also for screens of high density.
@Suite struct RendererTests {
    private let cells = ShapeMesh.LetterCells(width: 16, height: 30)

    private func bounds(_ mesh: ShapeMesh) -> [Float] {
        let xs = stride(from: 0, to: mesh.vertices.count, by: 8).map { mesh.vertices[$0] }
        let ys = stride(from: 1, to: mesh.vertices.count, by: 8).map { mesh.vertices[$0] }
        return [xs.min() ?? 0, ys.min() ?? 0, xs.max() ?? 0, ys.max() ?? 0]
    }

    @Test func shapesAreScaledToPixels() {
        let area = PixelRect(minX: 1, minY: 2, maxX: 11, maxY: 12)
        let fill = ShapeMesh([.fill(area, Colour(0xFF0000, alpha: 51))], factor: 2, cells: cells)
        #expect(bounds(fill) == [2, 4, 22, 24])
        #expect(Array(fill.vertices[0..<8]) == [2, 4, -1, 0, 1, 0, 0, 0.2])
        let outline = ShapeMesh([.outline(area, .white)], factor: 2, cells: cells)
        #expect(outline.vertices.count == 4 * 6 * 8)
        #expect(bounds(outline) == [2, 4, 22, 24])
        #expect(
            ShapeMesh([.fill(PixelRect(minX: 5, minY: 5, maxX: 5, maxY: 9), .white)], cells: cells).vertices.isEmpty
        )
    }

    /// A letter of text is a letter of the picture: no scaling, or it would be blurred.
    @Test func textIsDrawnInPixelsOfTheScreen() {
        let mesh = ShapeMesh([.text("A ~", x: 10, y: 20, .white)], factor: 2, cells: cells)
        #expect(mesh.vertices.count == 2 * 6 * 8)
        let column = Float(33 * 16)
        #expect(Array(mesh.vertices[0..<4]) == [20, 40, column, 0])
        #expect(Array(mesh.vertices[16..<20]) == [36, 70, column + 16, 30])
        #expect(mesh.vertices[6 * 8] == 52)
        let unknown = ShapeMesh([.text("é", x: 0, y: 0, .white)], cells: cells)
        #expect(unknown.vertices == ShapeMesh([.text("?", x: 0, y: 0, .white)], cells: cells).vertices)
    }

    @Test func slotsFollowTheScreenUnlessTheyAreRequested() {
        func slots(_ needed: Int, current: Int, requested: Int? = nil) -> Int {
            TextureText.slots(
                requested: requested,
                needed: needed,
                current: current,
                maximum: 2048,
                slotBytes: 1 << 18
            )
        }
        #expect(slots(0, current: 0) == 256)
        #expect(slots(256, current: 256) == 256)
        #expect(slots(257, current: 256) == 384)
        #expect(slots(558, current: 256) == 640)
        // A turning view.
        for needed in [558, 607, 621, 640, 320] { #expect(slots(needed, current: 640) == 640) }
        #expect(slots(641, current: 640) == 768)
        #expect(slots(319, current: 640) == 384)
        #expect(slots(0, current: 513) == 256 && slots(0, current: 512) == 512)
        #expect(slots(5000, current: 640) == 2048 && slots(5000, current: 2048) == 2048)
        #expect(slots(257, current: 256, requested: 64) == 64)
        #expect(slots(0, current: 256, requested: 4096) == 2048)
    }

    /// Bytes bound the default number; a request is bounded by OpenGL only.
    @Test func largeTilesHaveFewSlots() {
        func slots(_ side: Int, requested: Int? = nil, maximum: Int = 2048) -> Int {
            TextureText.slots(
                requested: requested,
                needed: 300,
                current: 0,
                maximum: maximum,
                slotBytes: side * side * 4
            )
        }
        #expect(slots(256) == 384 && slots(256, maximum: 100) == 100)
        #expect(slots(512) == 384)
        #expect(slots(1024) == 128)
        #expect(slots(4096) == 8)
        #expect(slots(16_384) == 1)
        #expect(slots(4096, requested: 300) == 300 && slots(4096, requested: 300, maximum: 100) == 100)
    }

    @Test func aFrameUploadsAtLeastATile() throws {
        #expect(try TextureText.uploadBudget(requested: nil, slotBytes: 1 << 18) == 4_000_000)
        #expect(try TextureText.uploadBudget(requested: nil, slotBytes: 4_000_001) == 4_000_001)
        #expect(try TextureText.uploadBudget(requested: 1 << 18, slotBytes: 1 << 18) == 1 << 18)
        #expect {
            try TextureText.uploadBudget(requested: 1 << 18 - 1, slotBytes: 1 << 18)
        } throws: { error in
            "\(error)".contains("--upload-budget") && "\(error)".contains("262144B")
        }
    }

    /// A check that compared nothing is not a success.
    @Test func gapsOfChecksAreNamed() {
        var counts = CheckCounts()
        func gaps() -> [String?] { [counts.gap(needsExact: true), counts.gap(needsExact: false)] }
        #expect(gaps() == ["no frame was drawn", "no frame was drawn"])
        var difference = Composition.Difference()
        (difference.background, difference.uncertain) = (5, 2)
        counts.add(uploadedBytes: 0, difference)
        #expect(gaps() == ["no tile was uploaded", "no tile was uploaded"])
        counts.add(uploadedBytes: 9, difference)
        #expect(gaps() == ["no pixel of a tile was compared", "no pixel of a tile was compared"])
        difference.weighted = 21
        counts.add(uploadedBytes: 4, difference)
        #expect(gaps() == ["no pixel of a tile was compared exactly", nil])
        (difference.weighted, difference.exact) = (0, 1)
        counts.add(uploadedBytes: 4, difference)
        #expect(gaps() == [nil, nil])
        #expect((counts.frames, counts.framesWithUploads, counts.largestUpload) == (4, 3, 9))
        #expect(counts.difference.weighted == 21)
    }

    @Test func slotsAndUploadsHaveLines() {
        var text = TextureText()
        (text.used, text.limit, text.needed) = (12, 256, 70)
        (text.uploads, text.allUploads, text.peakBytes, text.budget) = (3, 41, 786_432, 4_000_000)
        #expect(
            text.lines == [
                "slots 12 of 256, needed 70", "uploads 3 now, 41 in all", "  at most 0.79 of 4.00 MB a frame",
            ]
        )
        text.levelBias = 0.5
        #expect(text.lines[0] == "slots 12 of 256, needed 70, coarser by 0.50")
    }

    @Test func inputInPointsIsScaled() {
        let place = ScrollVector(x: 10, y: 20)
        #expect(InputEvent.pointerMoved(to: place).scaled(by: 2) == .pointerMoved(to: ScrollVector(x: 20, y: 40)))
        #expect(
            InputEvent.wheel(notches: 3, at: place).scaled(by: 2) == .wheel(notches: 3, at: ScrollVector(x: 20, y: 40))
        )
        #expect(InputEvent.keyDown(.o).scaled(by: 2) == .keyDown(.o))
    }

    @Test func pathsOfChecksRepeatAndMoveInAllWays() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        var first = CheckPath(pyramid, width: 480, height: 270, seed: 4)
        var second = CheckPath(pyramid, width: 480, height: 270, seed: 4)
        var viewports: [TileViewport] = []
        for _ in 0..<64 {
            let (one, other) = (first.next(), second.next())
            #expect(one == other)
            let viewport = try #require(one)
            #expect(viewport.isDrawable)
            viewports.append(viewport)
        }
        for viewport in viewports.prefix(8) {
            #expect(viewport.rotation == 0)
            #expect(pyramid.levels.contains { 1 / $0.worldPixelsPerPixel == viewport.scale })
            let x = viewport.center.x * viewport.scale
            #expect(x == x.rounded())
        }
        #expect(viewports.contains { $0.rotation != 0 })
        #expect(Set(viewports.map(\.scale)).count > 8)
    }

    @Test(arguments: [1, 2, 8]) func shortPathsOfChecksTurnToo(partLength: Int) throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        let path = CheckPath(pyramid, width: 480, height: 270, seed: 4, partLength: partLength)
        let viewports = Array(path.prefix(CheckPath.parts * partLength))
        #expect(viewports.firstIndex { $0.rotation != 0 } == 3 * partLength)
        #expect(viewports.dropFirst().firstIndex { $0.scale != viewports[0].scale } == 2 * partLength)
    }
}
