import TestSupport
import Testing

@testable import TileCache

/// Indices of needed tiles, which are looked up under the lock.
@Suite struct PoolNeedTests {
    /// Three views need random tiles. Those of the view that has changed last are found without a search.
    @Test func theIndexOfANeededTileIsNoted() {
        let small = TilePool(tiles: 100)
        var random = SplitMix64(seed: 5)
        var views = [ViewNeeds](repeating: ViewNeeds(), count: 3)
        var (wrong, notNoted, shared) = (0, 0, 0)
        for _ in 0..<200 {
            let changed = random.below(3)
            var columns = Array(0..<24)
            columns.shuffle(using: &random)
            small.need(Array(columns.prefix(random.below(16))), &views[changed])
            for column in columns {
                let number = small.pool.table.find(key(column))
                let found = views.map { small.pool.index(of: number, in: $0) }
                if found != views.map({ $0.tiles.firstIndex(of: key(column)) }) { wrong += 1 }
                if found.count(where: { $0 != nil }) > 1 { shared += 1 }
                guard let index = found[changed] else { continue }
                if small.pool.table[number].needIndex != index { notNoted += 1 }
            }
        }
        #expect(wrong == 0 && notNoted == 0 && shared > 100)
    }
}
