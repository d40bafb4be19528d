import Testing
import TileCache

@testable import TileSharedStore

@Suite struct SharedStoreStateTests {
    /// A look-up that stops waiting counts the failure. The end of its operation is not counted, whatever it is.
    @Test(arguments: [false, true]) func aTimeoutIsCountedOnce(fails: Bool) {
        var state = SharedStoreState(servers: 2, connections: 1)
        for round in 1...3 {
            let isAdmitted = state.begin(0, server: 1, at: 0)
            #expect(isAdmitted)
            state.end(0, isFailure: true, at: 0)
            state.end(0, isFailure: fails, at: 0)
            #expect(state.statistics.failures == round)
            #expect(state.breakers.map { $0.state(at: 0) } == [.closed, round == 3 ? .open : .closed])
        }
        let isAdmitted = state.begin(0, server: 1, at: 0)
        let isOther = state.begin(0, server: 0, at: 0)
        let isNone = state.begin(0, server: 2, at: 0)
        #expect(!isAdmitted && isOther && !isNone)
    }
}
