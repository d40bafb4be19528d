import Dispatch
import Testing
import TileCache

@testable import TileSharedStore

@Suite struct SharedStoreStateTests {
    private let namespace = TileStoreNamespace(high: 1, low: 2)

    /// A look-up that stops waiting counts the failure. The end of its operation is not counted, whatever it is.
    @Test(arguments: [false, true]) func aTimeoutIsCountedOnce(fails: Bool) throws {
        var state = SharedStoreState(servers: 2, connections: 1)
        let taken = state.takeConnection()
        let take = try #require(taken)
        for round in 1...3 {
            let isAdmitted = state.begin(0, server: 1, at: 0)
            #expect(isAdmitted)
            state.noteTimeout(of: take, at: 0)
            state.end(0, isFailure: fails, at: 0)
            #expect(state.statistics.failures == round)
            #expect(state.breakers.map { $0.state(at: 0) } == [.closed, round == 3 ? .open : .closed])
        }
        let isAdmitted = state.begin(0, server: 1, at: 0)
        let isOther = state.begin(0, server: 0, at: 0)
        let isNone = state.begin(0, server: 2, at: 0)
        #expect(!isAdmitted && isOther && !isNone)
    }

    /// A look-up may end just after its caller has stopped waiting, and another one take its connection.
    @Test func aTimeoutIsNotThatOfTheNextLookUp() throws {
        var state = SharedStoreState(servers: 2, connections: 1)
        let taken = state.takeConnection()
        let first = try #require(taken)
        _ = state.begin(0, server: 0, at: 0)
        state.end(0, isFailure: false, at: 0)
        state.give(first)
        let takenAgain = state.takeConnection()
        let second = try #require(takenAgain)
        _ = state.begin(0, server: 1, at: 0)
        state.noteTimeout(of: first, at: 0)
        #expect(state.statistics.failures == 0)
        state.noteTimeout(of: second, at: 0)
        #expect(state.statistics.failures == 1)
    }

    /// As while the system looks for the address of a server, for which a library has no limit.
    @Test func noServerIsAwaitedForEver() throws {
        let options = TileSharedStoreOptions(answerTime: .milliseconds(1), connectTime: .milliseconds(1))
        let store = try TileSharedStore([SharedServer(host: "127.0.0.1", port: 1)], options: options)
        let (goesOn, hasReturned) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let key = TileStoreKey(namespace: namespace, tile: TileCoordinate(level: 0, column: 0, row: 0))
        let generation = Lock<UInt64?>(nil)
        store.writer.queue.async { goesOn.wait() }
        DispatchQueue.global().async {
            let isStored = store.raiseGeneration(of: namespace, to: 5)
            // A removal that is not confirmed is one of the whole data set.
            let isRemoved = store.remove([key])
            generation.withLock { $0 = isStored || isRemoved ? nil : store.generation(of: namespace) }
            hasReturned.signal()
        }
        // As long as it takes on a busy machine, unless they wait for the queue.
        let hasEnded = hasReturned.wait(timeout: .now() + 600)
        goesOn.signal()
        #expect(hasEnded == .success && generation.withLock { $0 } == 6)
    }

    /// Queries of generations and removals have their turn between the writes, also if these never end.
    @Test func writesAreTakenInOrderFewAtATime() {
        var state = SharedStoreState(servers: 1, connections: 1)
        state.isWriting = true
        var columns: [Int] = []
        for column in 0..<100 {
            let tile = TileCoordinate(level: 9, column: column, row: 0)
            let key = TileStoreKey(namespace: namespace, tile: tile)
            let isTaken = state.enqueue(.release(key), limit: 0)
            #expect(isTaken)
        }
        while case let writes = state.takeWrites(), !writes.isEmpty {
            #expect(writes.count <= SharedStoreState.writesAtOnce && state.isWriting)
            for case .release(let key) in writes { columns.append(key.tile.column) }
        }
        #expect(columns == Array(0..<100) && !state.isWriting)
    }

    /// A process puts entries for days: what was sent makes room for others, to the byte.
    @Test func whatWasSentMakesRoom() {
        var state = SharedStoreState(servers: 1, connections: 1)
        let key = TileStoreKey(namespace: namespace, tile: TileCoordinate(level: 9, column: 0, row: 0))
        for _ in 0..<2 {
            let entries = [600, 401, 400, 1].map {
                state.enqueue(.entry(key, bytes: [UInt8](repeating: 1, count: $0), expires: 0), limit: 1000)
            }
            let small = (0...SharedStoreState.mostSmallWrites).map { number in
                let freshness = TileStoreFreshness(stored: 1)
                return state.enqueue(number % 2 == 0 ? .release(key) : .renewal(key, freshness), limit: 0)
            }
            #expect(entries == [true, false, true, false])
            #expect(small.dropLast().allSatisfy { $0 } && small.last == false)
            while case let writes = state.takeWrites(), !writes.isEmpty {
                for write in writes { state.finish(write) }
            }
            #expect(state.bufferedBytes == 0)
        }
    }

    /// Each look-up may query the servers for a generation. One a second does.
    @Test func aGenerationIsQueriedOnceASecond() {
        var state = SharedStoreState(servers: 1, connections: 1)
        state.raise(namespace, to: 3)
        let second = SharedStoreState.generationAge
        let asks = [5, 6, second + 4, second + 5, second + 6].map { state.asksForGeneration(of: namespace, at: $0) }
        #expect(asks == [true, false, false, true, false])
        state.raise(namespace, to: 2)
        #expect(state.generation(of: namespace) == 3)
    }

    @Test func theGenerationQueriedLongestAgoMakesRoom() {
        var state = SharedStoreState(servers: 1, connections: 1)
        let most = SharedStoreState.mostGenerations
        func name(_ number: Int) -> TileStoreNamespace { TileStoreNamespace(high: UInt64(number), low: 0) }
        for number in 0..<most {
            _ = state.asksForGeneration(of: name(number), at: Int64(number == 0 ? most : number))
            state.raise(name(number), to: 1)
        }
        state.raise(name(1), to: 2)
        #expect(state.generation(of: name(1)) == 2)
        state.raise(name(most), to: 1)
        #expect((0...most).filter { state.generation(of: name($0)) == 0 } == [1])
    }

    /// What may be confirmed does not expire on the servers, and nothing does before it stops being fresh.
    @Test(
        arguments: [
            (nil, nil, nil, 0), (nil, 4_000_000, nil, 0), (5_000_000, nil, nil, 5_000_000),
            (5_000_000, 6_000_000, nil, 6_000_000), (5_000_000, 4_000_000, nil, 5_000_000),
            (5_000_000, 5_000_000, "x", 0), (5_000_000, 6_000_000, "x", 0), (1, nil, nil, 2_592_001),
            (Int64(Int32.max) + 1, nil, nil, 0), (.max, .min, nil, 0), (.min, .min, nil, 2_592_001),
        ] as [(Int64?, Int64?, String?, Int)]
    ) func entriesExpireOnceTheyAreUseless(
        expires: Int64?,
        usableUntil: Int64?,
        validator: String?,
        seconds: Int
    ) {
        for isTag in [false, true] {
            let freshness = TileStoreFreshness(
                stored: 1,
                expires: expires,
                usableUntil: usableUntil,
                entityTag: isTag ? validator : nil,
                lastModified: isTag ? nil : validator
            )
            #expect(TileSharedStore.expiry(freshness) == seconds)
        }
    }
}
