import Dispatch
public import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A tier of memcached servers that several processes and machines share.
///
/// Processes that miss the same tile at the same time load it once: the first takes a lock on the servers, the others
/// wait for its entry until their deadline. A server that is slow, dead or answers something else costs each look-up at
/// most ``TileSharedStoreOptions/answerTime``; after three failures in a row it is not used for a while.
///
/// memcached has no authentication: each client that can connect to a server can read and replace every tile. Servers
/// belong on a private network. Checksums detect damaged entries, not forged ones.
public final class TileSharedStore: TileStore, DistantStore {
    /// The servers, in the order of the initializer.
    public let servers: [SharedServer]
    let options: TileSharedStoreOptions
    private let lanes: [SharedLane]
    let writer: SharedLane
    let state: Lock<SharedStoreState>

    /// Creates a store. Connects when it is first used: a server may be down.
    ///
    /// - Parameters:
    ///   - servers: 1 to 100 servers, the same in the same order for all processes.
    ///   - options: Settings. Default: as ``TileSharedStoreOptions`` states.
    /// - Throws: ``TileSharedStoreError`` for a port or a setting out of range.
    public init(
        _ servers: [SharedServer],
        options: TileSharedStoreOptions = TileSharedStoreOptions()
    ) throws(TileSharedStoreError) {
        try options.check()
        guard (1...SharedServer.mostServers).contains(servers.count) else {
            throw TileSharedStoreError("servers: 1 to \(SharedServer.mostServers) were expected, not \(servers.count)")
        }
        self.servers = servers
        self.options = options
        var lanes: [SharedLane] = []
        for index in 0...options.connections { lanes.append(try SharedLane(index, servers, options)) }
        writer = lanes.removeLast()
        self.lanes = lanes
        state = Lock(SharedStoreState(servers: servers.count, connections: options.connections))
    }

    /// "shared".
    public var label: String { "shared" }
    /// True: other processes wait for a tile that this one loads.
    public var keepsUndrawnTiles: Bool { true }

    /// Counts since the store was created. Entries and their bytes are those of the servers and are not known.
    public var statistics: TileStoreStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.memorySize = .bytes(state.bufferedBytes + state.lentBytes + connectionBytes)
            return statistics
        }
    }

    /// Bytes of all connections at most.
    private var connectionBytes: Int {
        (options.connections + 1) * SharedConnection.memorySize(servers: servers.count, options)
    }

    /// Bytes of entries that may wait to be sent: what the caches allow beside the connections, one entry at least.
    func bufferBytes(_ state: SharedStoreState) -> Int {
        guard let allowed = state.allowances.values.min() else { return options.writeBuffer.bytes }
        return min(max(allowed - connectionBytes, options.largestEntry.bytes), options.writeBuffer.bytes)
    }

    /// Sets the memory that a cache allows. If several caches use the store, the least that one of them allows counts.
    ///
    /// The buffer of writes keeps to what the connections leave, but has room for one entry. Connections keep their size,
    /// which ``TileSharedStoreOptions/connections`` and ``TileSharedStoreOptions/largestEntry`` determine.
    public func limitMemory(to bytes: ByteCount?, for user: Int) {
        state.withLock { $0.allowances[user] = bytes?.bytes }
    }

    /// Whether each server is used at present, in the order of ``servers``.
    public var serverStates: [SharedServerState] {
        let now = MonotonicTime.now.nanoseconds
        return state.withLock { $0.breakers.map { $0.state(at: now) } }
    }

    /// Unknown, or absent if no server is used at present.
    public func presence(of key: TileStoreKey) -> TileStorePresence {
        serverStates.allSatisfy { $0 == .open } ? .absent : .unknown
    }

    /// Looks an entry up. If another process loads the tile, waits for its entry.
    ///
    /// A return of ``TileStoreMiss/absent`` means that the caller is to load the tile and to ``put(_:cost:)`` it.
    public func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        guard key.isValid else { return miss(.absent) }
        let start = MonotonicTime.now.nanoseconds
        let deadline = deadline.map { MonotonicTime.bounded($0.nanoseconds) }
        let end = deadline ?? start + options.longestWait.nanoseconds
        var pause: Int64 = 1000
        var isWaiting = false
        while true {
            let answerEnd = MonotonicTime.now.nanoseconds + options.answerTime.nanoseconds
            let answer: LookUp?
            if let take = state.withLock({ $0.takeConnection() }) {
                answer = ask(take, key, shape, until: answerEnd, deadline: deadline ?? .max)
            } else if state.withLock({ $0.isClosed }) {
                return miss(.closed)
            } else {
                // All connections are in use. The other process still loads the tile.
                answer = isWaiting ? .taken : nil
            }
            switch answer {
            case .found(let value, let entry):
                state.withLock { state in
                    state.statistics.hits += 1
                    state.statistics.bytesRead += .bytes(value.bytes.count)
                    state.lentBytes += value.bytes.count
                }
                body(entry)
                state.withLock { $0.lentBytes -= value.bytes.count }
                withExtendedLifetime(value) {}
                return nil
            case .missing(let cause): return miss(cause)
            case nil: return miss(.late)
            case .taken:
                // Another process loads it. Longer pauses would delay the tile by as much.
                isWaiting = true
                let left = (end - MonotonicTime.now.nanoseconds) / 1000
                guard left > 0 else { return miss(.late) }
                usleep(UInt32(min(pause, left)))
                pause = min(2 * pause, 8000)
            }
        }
    }

    /// Copies an entry, which is then sent, and ends the lock of its tile. Refusing it ends the lock too.
    public func put(_ entry: TileStoreEntry, cost: Duration) -> TileStorePut {
        let isOld = state.withLock { $0.isClosed || entry.generation < $0.generation(of: entry.key.namespace) }
        guard !isOld, let bytes = entry.encoded(), bytes.count <= options.largestEntry.bytes else {
            state.withLock { $0.statistics.refused += 1 }
            _ = enqueue(.release(entry.key))
            return .refused
        }
        let put = enqueue(.entry(entry.key, bytes: bytes, expires: Self.expiry(entry.freshness)))
        if put == .dropped { _ = enqueue(.release(entry.key)) }
        return put
    }

    /// Ends the lock of a tile that this process did not load after all.
    public func giveUp(_ key: TileStoreKey) { _ = enqueue(.release(key)) }

    /// Fetches an entry, replaces its freshness and stores it again, later.
    public func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness) {
        guard key.isValid else { return }
        _ = enqueue(.renewal(key, freshness))
    }

    /// Removes entries; if a server does not confirm it, all entries of their namespaces.
    @discardableResult
    public func remove(_ keys: [TileStoreKey]) -> Bool {
        let valid = keys.filter(\.isValid)
        let failed = onWriter(operations: valid.count) { [self] in
            valid.filter { perform(SharedName.entry($0), writer) { $1.remove($0) } == .failed }
        }
        let unconfirmed = Set((failed ?? valid).map(\.namespace))
        return unconfirmed.reduce(true) { remove($1) && $0 }
    }

    /// Raises the generation of a namespace: the servers evict its entries when they need room.
    ///
    /// - Returns: Whether a server has confirmed it in time. If not, it is done later.
    @discardableResult
    public func remove(_ namespace: TileStoreNamespace) -> Bool {
        let isStored = onWriter { [self] in
            // One piece of work: if the servers' answer is late, it still counts, not what was known before.
            query(namespace, writer)
            let next = state.withLock { $0.generation(of: namespace) } + 1
            return next <= SharedStoreState.highestGeneration && store(next, of: namespace)
        }
        if isStored == nil {
            // In this process at once.
            state.withLock { $0.raise(namespace, to: $0.generation(of: namespace) + 1) }
        }
        return isStored ?? false
    }

    /// Queries the servers. If that takes too long, the result is the last generation that is known.
    public func generation(of namespace: TileStoreNamespace) -> UInt64 { readGeneration(of: namespace).generation }

    package func readGeneration(of namespace: TileStoreNamespace) -> (generation: UInt64, isAnswer: Bool) {
        let isAnswer = onWriter { [self] in query(namespace, writer) } ?? false
        return (state.withLock { $0.generation(of: namespace) }, isAnswer)
    }

    /// Stores a generation on several servers, so that it survives the loss of some.
    ///
    /// - Parameter generation: At most 2^62: higher ones are damaged, since nothing raises them that often.
    public func raiseGeneration(of namespace: TileStoreNamespace, to generation: UInt64) -> Bool {
        guard generation <= SharedStoreState.highestGeneration else { return false }
        state.withLock { $0.raise(namespace, to: generation) }
        return onWriter { [self] in store(generation, of: namespace) } ?? false
    }

    private func store(_ generation: UInt64, of namespace: TileStoreNamespace) -> Bool {
        state.withLock { $0.raise(namespace, to: generation) }
        return (writer.connection?.generationNames(of: namespace) ?? []).reduce(false) { isStored, name in
            raise(name, to: generation, writer) || isStored
        }
    }

    /// Stores a generation on one server. Another process may raise it at the same time: neither replaces a higher one.
    private func raise(_ name: String, to generation: UInt64, _ lane: SharedLane) -> Bool {
        for _ in 0..<16 {
            let answer = perform(name, lane) { $1.raise($0, to: generation) }
            if answer != .missing { return answer == .done }
        }
        return false
    }

    /// Sends what is buffered, within ten times the answer time, and closes all connections.
    public func close() {
        let wasClosed = state.withLock { state -> Bool in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        let end = MonotonicTime.now.nanoseconds + 10 * options.answerTime.nanoseconds
        let isSent = SharedResult<Bool>()
        writer.queue.async { [self] in
            while sendSome(until: end) {}
            isSent.set(true)
        }
        _ = isSent.wait(nanoseconds: end - MonotonicTime.now.nanoseconds)
        // A server may hold a connection up for longer: nothing waits for its end.
        for lane in lanes + [writer] { lane.queue.async { lane.close() } }
    }

    // MARK: - Look-ups

    private enum LookUp: @unchecked Sendable {
        // Values are never written; an entry's payload is in its value.
        case found(SharedValue, TileStoreEntry)
        /// The caller is to load the tile.
        case missing(TileStoreMiss)
        /// Another process loads the tile.
        case taken
    }

    /// Runs a look-up on a connection and waits for it; nil if it takes longer. The connection is given back when the
    /// look-up ends.
    private func ask(
        _ take: SharedStoreState.Take,
        _ key: TileStoreKey,
        _ shape: TileStoreShape,
        until answerEnd: Int64,
        deadline: Int64
    ) -> LookUp? {
        let answer = SharedResult<LookUp>()
        let lane = lanes[take.connection]
        lane.queue.async { [self] in
            let result = lookUp(key, shape, lane)
            // Given back first: the caller may look the next tile up at once.
            state.withLock { $0.give(take) }
            answer.set(result)
        }
        let wait = min(answerEnd, deadline) - MonotonicTime.now.nanoseconds
        if let result = answer.wait(nanoseconds: wait) { return result }
        // An earlier deadline says nothing about the server. Its answer is counted when it comes.
        if answerEnd <= deadline {
            let now = MonotonicTime.now.nanoseconds
            state.withLock { $0.noteTimeout(of: take, at: now) }
        }
        return nil
    }

    private func lookUp(_ key: TileStoreKey, _ shape: TileStoreShape, _ lane: SharedLane) -> LookUp {
        refresh(key.namespace, lane)
        let first = stored(key, shape, lane)
        guard case .missing(let cause) = first, cause != .failed else { return first }
        let seconds = max(Int(options.loadTime.components.seconds), 1)
        let claim = perform(SharedName.lock(key), lane) { name, connection in
            withUnsafeBytes(of: UInt8(ascii: "1")) { connection.add(name, $0, expires: seconds) }
        }
        if claim == .missing { return .taken }
        // Another process may have stored the tile and ended its lock between the two.
        guard claim == .done, case .found(let value, let entry) = stored(key, shape, lane) else { return first }
        _ = perform(SharedName.lock(key), lane) { $1.remove($0) }
        return .found(value, entry)
    }

    /// The entry of a tile, or why there is none.
    private func stored(_ key: TileStoreKey, _ shape: TileStoreShape, _ lane: SharedLane) -> LookUp {
        let generation = state.withLock { $0.generation(of: key.namespace) }
        var value: SharedValue?
        let answer = perform(SharedName.entry(key), lane) { name, connection in
            let (answer, found) = connection.value(of: name)
            value = found
            return answer
        }
        guard let value else { return .missing(answer == .failed ? .failed : .absent) }
        do {
            return .found(
                value,
                try TileStoreEntry(decoding: value.bytes, key: key, shape: shape, minimumGeneration: generation)
            )
        } catch { return .missing(error) }
    }

    /// Runs an operation on the server of a name, unless its breaker is open.
    func perform(
        _ name: String,
        _ lane: SharedLane,
        _ operation: (String, SharedConnection) -> SharedAnswer
    ) -> SharedAnswer {
        guard let connection = lane.connection else { return .failed }
        let server = connection.server(of: name)
        let start = MonotonicTime.now.nanoseconds
        guard state.withLock({ $0.begin(lane.index, server: server, at: start) }) else { return .failed }
        let answer = operation(name, connection)
        let now = MonotonicTime.now.nanoseconds
        state.withLock { $0.end(lane.index, isFailure: answer == .failed, at: now) }
        return answer
    }

    // MARK: - Generations

    /// Queries the servers for a generation if the last look-up that did was over a second ago.
    private func refresh(_ namespace: TileStoreNamespace, _ lane: SharedLane) {
        let now = MonotonicTime.now.nanoseconds
        if state.withLock({ $0.asksForGeneration(of: namespace, at: now) }) { query(namespace, lane) }
    }

    /// Returns whether a server has answered.
    @discardableResult
    private func query(_ namespace: TileStoreNamespace, _ lane: SharedLane) -> Bool {
        let names = lane.connection?.generationNames(of: namespace) ?? []
        let stored = names.map { storedGeneration($0, lane) }
        let newest = state.withLock { state -> UInt64 in
            state.raise(namespace, to: stored.compactMap { $0 }.max() ?? 0)
            return state.generation(of: namespace)
        }
        // A server that was restarted has lost its copy. If nothing replaced it, the last copy would go at some time.
        for (name, copy) in zip(names, stored) {
            if let copy, copy < newest { _ = raise(name, to: newest, lane) }
        }
        return stored.contains { $0 != nil }
    }

    /// The generation on one server, 0 if it has none; `nil` if it does not answer.
    private func storedGeneration(_ name: String, _ lane: SharedLane) -> UInt64? {
        var generation: UInt64 = 0
        let answer = perform(name, lane) { name, connection in
            let (answer, value) = connection.value(of: name)
            generation = value.flatMap { SharedConnection.generation($0.bytes) } ?? 0
            return answer
        }
        return answer == .failed ? nil : generation
    }

    private func miss(_ cause: TileStoreMiss) -> TileStoreMiss {
        state.withLock { $0.statistics.misses[cause, default: 0] += 1 }
        return cause
    }
}
