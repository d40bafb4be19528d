import CacheBenchKit
import PanTraces
import Testing
import TileCache

@Suite struct BuiltInSessionTests {
    @Test(arguments: [1, 2, 3, 1_000_000] as [UInt64])
    func isAMapSession(seed: UInt64) throws {
        let samples = BuiltInSession(seed: seed).samples
        #expect(samples.first?.time == 0)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
        let seconds = Double(try #require(samples.last).time) / 1e9
        #expect((60...90).contains(seconds))
        #expect(
            samples.allSatisfy { $0.center.y >= 0 && $0.center.y <= 131_072 && $0.scale < 1.42 && $0.scale > 0.0078 }
        )
        // One jump back, and no other step that a replay would not follow.
        let jumps = zip(samples, samples.dropFirst()).filter {
            PanInterpolation(from: $0, to: $1, viewport: BuiltInSession.viewport).isJump
        }
        #expect(jumps.count == 1)
        // Both zooms and pans, both movement and rest.
        let steps = Array(zip(samples, samples.dropFirst()))
        #expect(steps.filter { $0.scale < $1.scale }.count > 500)
        #expect(steps.filter { $0.scale > $1.scale }.count > 300)
        #expect(steps.filter { $0.scale == $1.scale && $0.center != $1.center }.count > 2000)
        #expect(steps.filter { $1.time - $0.time > 100_000_000 }.count > 20)
    }

    @Test func isTheSameEverywhere() {
        let session = BuiltInSession()
        #expect(session.samples == BuiltInSession(seed: 1).samples)
        #expect(session.samples != BuiltInSession(seed: 2).samples)
        #expect(session.samples.count == 4_422)
        #expect(session.samples.last?.center.x.bitPattern == 0x40F9_1CAF_EA5B_EBBB)
        #expect(session.samples.last?.scale.bitPattern == 0x3FD0_EA7F_E681_946D)
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
