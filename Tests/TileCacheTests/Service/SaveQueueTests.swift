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
                let isAdded = queue.add(new)
                #expect(isAdded)
                ready.append(new)
            case ..<70:
                undrawn.removeAll { $0.key == new.key }
                let isAdded = queue.addUndrawn(new)
                #expect(isAdded)
                undrawn.append(new)
            case ..<80:
                #expect(queue.noteDrawn(new.key) == nil)
                guard let index = undrawn.firstIndex(where: { $0.key == new.key }) else { break }
                ready.append(undrawn.remove(at: index))
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
            let bytes = (ready + undrawn).reduce(0) { $0 + $1.byteCount }
            #expect(queue.byteCount == bytes)
        }
        #expect(Set(queue.undrawnKeys) == Set(undrawn.map(\.key)))
    }

    /// What has no room is refused and not counted. A tile that waits is replaced, and one that is drawn is forgotten.
    @Test func bothListsAreBounded() {
        var queue = SaveQueue()
        let ready = (0...SaveQueue.mostReady).map { queue.add(save($0)) }
        #expect(ready.dropLast().allSatisfy { $0 } && ready.last == false)
        let undrawn = (0...SaveQueue.mostUndrawn).map { queue.addUndrawn(save($0)) }
        #expect(undrawn.dropLast().allSatisfy { $0 } && undrawn.last == false && queue.isFull)
        let bytes = save(0).byteCount
        #expect(queue.byteCount == (SaveQueue.mostReady + SaveQueue.mostUndrawn) * bytes)
        let isReplaced = queue.addUndrawn(save(7))
        let dropped = queue.noteDrawn(save(7).key)
        #expect(isReplaced && dropped?.key == save(7).key && !queue.isFull)
        #expect(queue.byteCount == (SaveQueue.mostReady + SaveQueue.mostUndrawn - 1) * bytes)
        let next = queue.next()
        let later = queue.noteDrawn(save(8).key)
        #expect(next?.key == save(0).key && later == nil && queue.readyCount == SaveQueue.mostReady)
    }
}
