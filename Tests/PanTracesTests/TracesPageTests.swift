import Foundation
import PanTraces
import Testing
import TileCache

/// Docs/Traces.md, the page of the format.
@Suite struct TracesPageTests {
    private func examples() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let page = try String(contentsOf: root.appendingPathComponent("Docs/Traces.md"), encoding: .utf8)
        return page.matches(of: /```csv\n([^`]*)```\n/).map { String($0.1) }
    }

    @Test func theExamplesAreTraces() throws {
        let examples = try examples()
        #expect(examples.count == 2)
        let map = try PanTraceReader(text: examples[0])
        #expect(map.header.wrapsX && map.header.tileSize == 256 && !map.hasRotation)
        #expect(map.header.viewport == .init(width: 1280, height: 720))
        #expect(map.header.world == .init(width: 131_072, height: 131_072))
        let positions = try samples(map)
        #expect(positions.map(\.time) == [0, 16_600_000, 1_250_000_000])
        #expect(positions[1].center == WorldPoint(x: 65_600.5, y: 50_816))
        #expect(positions.map(\.scale) == [0x1p-7, 0x1p-7, 0x1p-6])

        let photo = try PanTraceReader(text: examples[1])
        #expect(photo.header.viewName == "left" && !photo.header.wrapsX)
        #expect(photo.header.otherEntries == [.init(key: "licence", value: "CC0-1.0")])
        #expect(try samples(photo).map(\.rotation) == [0, -0.015, -0.031])
    }

    /// A factor of 2 is a jump, as the page says, and the pan before it is none.
    @Test func theExamplesStepIsAJump() throws {
        let positions = try samples(PanTraceReader(text: examples()[0]))
        let viewport = PanTraceHeader.Size(width: 1280, height: 720)
        #expect(!PanInterpolation(from: positions[0], to: positions[1], viewport: viewport).isJump)
        #expect(PanInterpolation(from: positions[1], to: positions[2], viewport: viewport).isJump)
    }

    private func samples(_ reader: PanTraceReader) throws -> [PanTraceSample] {
        var samples: [PanTraceSample] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }
}
