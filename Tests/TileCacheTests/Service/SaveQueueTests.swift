import TestSupport
import Testing

@testable import TileCache

/// Tiles waiting to be stored, against lists.
@Suite struct SaveQueueTests {
    private func save(_ number: Int, layer: Int = 0, tag: String? = nil) -> SaveQueue.Save {
        let tile = TileCoordinate(level: 8, column: number, row: 0)
        return SaveQueue.Save(
            key: TileKey(layer: layer, tile),
            layer: LayerID(layer),
            takers: 1,
            cost: Int64(number),
            freshness: tag.map { TileStoreFreshness(stored: 0, entityTag: $0) },
            epoch: .init()
        )
    }

    @Test(arguments: 0..<4) func aRandomCourseEqualsLists(run: Int) {
        var random = SplitMix64(seed: UInt64(run))
        var queue = SaveQueue()
        var ready: [SaveQueue.Save] = []
        var undrawn: [SaveQueue.Save] = []
        for step in 0..<20_000 {
            let number = Int(random.next() % 1500)
            let new = save(number, layer: number % 3, tag: number.isMultiple(of: 5) ? "tag\(number)" : nil)
            switch random.next() % 100 {
            case ..<30:
                let fits = ready.count < SaveQueue.mostReady
                #expect(queue.add(new) == fits)
                if fits { ready.append(new) }
            case ..<70:
                undrawn.removeAll { $0.key == new.key }
                let fits = undrawn.count < SaveQueue.mostUndrawn
                #expect(queue.addUndrawn(new) == fits)
                if fits { undrawn.append(new) }
            case ..<80:
                let dropped = queue.noteDrawn(new.key)
                guard let index = undrawn.firstIndex(where: { $0.key == new.key }) else {
                    #expect(dropped == nil)
                    break
                }
                let known = undrawn.remove(at: index)
                let fits = ready.count < SaveQueue.mostReady
                #expect(dropped?.key == (fits ? nil : known.key))
                if fits { ready.append(known) }
            case ..<82:
                let takers = queue.forgetAll(of: new.key)
                #expect(takers == (ready.contains { $0.key == new.key } ? 1 : 0))
                ready.removeAll { $0.key == new.key }
                undrawn.removeAll { $0.key == new.key }
            case ..<99:
                #expect(queue.next()?.key == ready.first?.key)
                if !ready.isEmpty { ready.removeFirst() }
            default:
                let layer = LayerID(number % 3)
                queue.forget(where: { $0.layer == layer })
                ready.removeAll { $0.layer == layer }
                undrawn.removeAll { $0.layer == layer }
            }
            #expect(queue.readyCount == ready.count, "step \(step)")
            #expect(queue.isFull == (undrawn.count == SaveQueue.mostUndrawn))
            let bytes = (ready + undrawn).reduce(0) { $0 + $1.byteCount }
            #expect(queue.byteCount == bytes)
        }
        #expect(Set(queue.undrawnKeys) == Set(undrawn.map(\.key)))
    }
}
