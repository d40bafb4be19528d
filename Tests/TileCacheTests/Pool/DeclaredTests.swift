import Testing

@testable import TileCache

struct DeclaredTests {
    @Test func whatIsDeclaredIsTakenOnce() {
        var declared = Declared(none: PoolEffects())
        #expect(!declared.exists && declared.effects == PoolEffects())
        declared.effects.lateWorkers += 2
        declared.effects.replanAt = 5
        #expect(declared.exists)
        #expect(declared.take() == PoolEffects(replanAt: 5, lateWorkers: 2))
        #expect(!declared.exists && declared.take() == PoolEffects())
    }
}
