import Testing

@testable import TileCache

/// The split of the memory between pixels and compressed tiles, which follows the hits.
@Suite struct TierSplitTests {
    /// The split moves towards the tier whose coldest part is hit. Hits on tiles in no danger do not move it.
    @Test(arguments: [(false, 75, -1.0), (true, 75, 1.0), (false, 74, 0.0), (true, 74, 0.0)])
    func onlyColdHitsMoveTheSplit(compressed: Bool, age: Int64, direction: Double) {
        var split = TierSplit(fixedShare: nil)
        split.hit(compressed: compressed, age: age, oldest: 100)
        split.noteDemands(TierSplit.demandsPerMove)
        #expect(abs(split.compressedShare - TierSplit.start - direction * TierSplit.step) < 1e-12)
    }

    /// A load counts as 400 decompressions. Evidence of both decays by a twentieth with each move.
    @Test func theSplitFollowsTheLargerGainWithinItsRange() {
        var split = TierSplit(fixedShare: nil)
        func hit(compressed: Bool, times: Int) {
            for _ in 0..<times { split.hit(compressed: compressed, age: 1, oldest: 1) }
        }
        func move() -> Int? {
            let before = split.compressedShare
            split.noteDemands(TierSplit.demandsPerMove - 1)
            guard split.compressedShare == before else { return nil }
            split.noteDemands(1)
            return Int(((split.compressedShare - before) / TierSplit.step).rounded())
        }
        hit(compressed: true, times: 1)
        hit(compressed: false, times: 399)
        var moves = [move(), move()]
        // 361 against 360.1 and another one.
        hit(compressed: false, times: 1)
        moves.append(move())
        #expect(moves == [1, 1, -1])
        for _ in 0..<100 {
            hit(compressed: true, times: 1)
            _ = move()
        }
        #expect(split.compressedShare == TierSplit.range.upperBound)
        for _ in 0..<100 {
            hit(compressed: false, times: 100)
            _ = move()
        }
        #expect(split.compressedShare == TierSplit.range.lowerBound)
    }

    @Test func demandsMoveThePoolsSplit() {
        let small = TilePool(tiles: 40) {
            $0.compressedTier = true
            $0.compressedShare = nil
        }
        for column in 0..<30 { small.load(column) }
        var needs = ViewNeeds()
        // The least recently used first: each is in danger when it is hit.
        for column in 0..<30 { small.need([column], &needs) }
        #expect(small.pool.split.compressedShare < TierSplit.start)
    }

    /// A tile of one colour takes no room of either tier: its hits say nothing about the split.
    @Test(arguments: [(DemotionResult.solid(7), 0.0), (.block(1024), 1.0)])
    func hitsOnTilesOfOneColourDoNotMoveTheSplit(compressed: DemotionResult, direction: Double) {
        let small = TilePool(tiles: 40) {
            $0.compressedTier = true
            $0.compressedShare = nil
        }
        small.compressed = compressed
        var needs = ViewNeeds()
        for column in 0..<TierSplit.demandsPerMove {
            small.load(column)
            small.demote(small.pool.beginDemotion(small.pool.table.find(key(column))))
        }
        #expect(small.decoded.isEmpty && small.resident.count == TierSplit.demandsPerMove)
        for column in 0..<TierSplit.demandsPerMove { small.need([column], &needs) }
        #expect(abs(small.pool.split.compressedShare - TierSplit.start - direction * TierSplit.step) < 1e-12)
    }
}
