import CacheBenchKit
import PanTraces
import Testing
import TileCache

extension BuiltInSession {
    /// The session as a file.
    var text: String {
        samples.reduce(into: PanTraceFormat.headerText(header, includesRotation: false)) {
            $0 += PanTraceFormat.line($1, includesRotation: false)
        }
    }
}

@Suite struct BuiltInSessionTests {
    @Test(arguments: [1, 2, 3, 1_000_000] as [UInt64])
    func isAMapSession(seed: UInt64) throws {
        let session = BuiltInSession(seed: seed)
        let samples = session.samples
        #expect(samples.first?.time == 0)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect((115...120).contains(Double(try #require(samples.last).time) / 1e9))
        #expect(samples.allSatisfy { $0.center.y >= 0 && $0.center.y <= 131_072 && $0.scale <= 1 })
        // Its figures match those of recorded maps, as far as two minutes allow.
        var statistics = PanTraceStatistics()
        var stream = session.stream
        try statistics.add(&stream)
        #expect((0.08...0.3).contains(try #require(statistics.movingShare)))
        #expect((4...20).contains(try #require(statistics.zoomsPerMinute)))
        #expect(statistics.strokes.count > 10 && statistics.pauses.count > 10)
    }

    @Test func isTheSameEverywhere() {
        let session = BuiltInSession()
        #expect(session.samples == BuiltInSession(seed: 1).samples)
        #expect(session.samples != BuiltInSession(seed: 2).samples)
    }

    @Test func isATraceLikeAnyOther() throws {
        let session = BuiltInSession()
        let reader = try PanTraceReader(text: session.text)
        #expect(reader.header == session.header)
        var read: [PanTraceSample] = []
        while let sample = try reader.nextSample() { read.append(sample) }
        #expect(read == session.samples)
        let scene = try PanTraceScene(reader.header, name: "built-in")
        #expect(scene.worldWidth == 131_072 && scene.wrapsX && scene.tileSize == 256)
    }
}
