import TileCache

/// State of a shared store, without connections, threads or clocks.
struct SharedStoreState {
    /// An operation that waits for the writer.
    enum Write {
        case entry(TileStoreKey, bytes: [UInt8], expires: Int)
        case renewal(TileStoreKey, TileStoreFreshness)
        /// Ends the lock of a tile that is not stored.
        case release(TileStoreKey)

        var isRelease: Bool { if case .release = self { true } else { false } }
        var byteCount: Int {
            switch self {
            case .entry(_, let bytes, _): bytes.count
            case .renewal, .release: 0
            }
        }
    }

    /// A connection that a look-up has taken.
    struct Take {
        let connection: Int
        fileprivate let serial: Int
    }

    /// A generation, and the time of its last query.
    struct Generation {
        var value: UInt64 = 0
        var asked: Int64 = .min
    }

    static let generationAge: Int64 = 1_000_000_000
    /// Higher ones are damaged or forged: nothing could be newer than the highest of all.
    static let highestGeneration: UInt64 = 1 << 62
    /// Names held at most: a data set each, of which a process has few.
    static let mostGenerations = 1024
    static let mostSmallWrites = 1024
    static let writesAtOnce = 16

    var isClosed = false
    var isWriting = false
    /// Whether a caller has waited in vain for work of the writer that has not ended yet.
    var isWriterLate = false
    var statistics = TileStoreStatistics()
    /// Bytes of values that look-ups lend at present. Their connections may have the next ones.
    var lentBytes = 0
    private(set) var breakers: [CircuitBreaker]
    /// Server that each connection waits for at present, the writer's last.
    private var asked: [Int?]
    /// Number of times that each connection was taken.
    private var takes: [Int]
    private(set) var bufferedBytes = 0
    /// Bytes that each cache allows.
    var allowances: [Int: Int] = [:]
    private var idle: [Int]
    private var generations: [TileStoreNamespace: Generation] = [:]
    private var writes: [Write] = []
    private var smallWrites = 0

    init(servers: Int, connections: Int) {
        breakers = Array(repeating: CircuitBreaker(), count: servers)
        asked = Array(repeating: nil, count: connections + 1)
        takes = Array(repeating: 0, count: connections)
        idle = Array(0..<connections)
    }

    /// Takes a connection that is not in use.
    mutating func takeConnection() -> Take? {
        guard !isClosed, let connection = idle.popLast() else { return nil }
        takes[connection] += 1
        return Take(connection: connection, serial: takes[connection])
    }

    mutating func give(_ take: Take) { idle.append(take.connection) }

    /// Begins an operation on a server; `false` if its breaker is open.
    mutating func begin(_ connection: Int, server: Int, at now: Int64) -> Bool {
        guard breakers.indices.contains(server), breakers[server].admits(at: now) else { return false }
        asked[connection] = server
        return true
    }

    /// Notes that the server of a look-up has not answered in time.
    ///
    /// Ignored if the look-up has ended meanwhile: the connection may be that of another one.
    mutating func noteTimeout(of take: Take, at now: Int64) {
        guard takes[take.connection] == take.serial else { return }
        end(take.connection, isFailure: true, at: now)
    }

    /// Ends the operation of a connection. Its end after a timeout is not counted again.
    mutating func end(_ connection: Int, isFailure: Bool, at now: Int64) {
        guard let server = asked[connection] else { return }
        asked[connection] = nil
        breakers[server].note(isFailure: isFailure, at: now)
        if isFailure { statistics.failures += 1 }
    }

    /// Enqueues a write; false if the buffer is full.
    mutating func enqueue(_ write: Write, limit: Int) -> Bool {
        switch write {
        case .entry(_, let bytes, _):
            guard bufferedBytes + bytes.count <= limit else { return false }
            bufferedBytes += bytes.count
        case .renewal, .release:
            guard smallWrites < Self.mostSmallWrites else { return false }
            smallWrites += 1
        }
        writes.append(write)
        return true
    }

    /// Takes the oldest writes, few at a time: queries and removals wait for them. Their bytes stay counted until
    /// ``finish(_:)``.
    mutating func takeWrites() -> [Write] {
        guard writes.count > Self.writesAtOnce else {
            if writes.isEmpty { isWriting = false }
            // An array that both kept would be written in place once the caller had released it; ThreadSanitizer does
            // not see the release and reports a race.
            defer { writes = [] }
            return writes
        }
        defer { writes.removeFirst(Self.writesAtOnce) }
        return Array(writes.prefix(Self.writesAtOnce))
    }

    mutating func finish(_ write: Write) {
        switch write {
        case .entry(_, let bytes, _): bufferedBytes -= bytes.count
        case .renewal, .release: smallWrites -= 1
        }
    }

    func generation(of namespace: TileStoreNamespace) -> UInt64 { generations[namespace]?.value ?? 0 }

    /// Raises a generation, unless it is as high already.
    mutating func raise(_ namespace: TileStoreNamespace, to value: UInt64) {
        makeRoom(for: namespace)
        generations[namespace, default: Generation()].value = max(generation(of: namespace), value)
    }

    /// Whether to query the servers for a generation now. The caller then does.
    mutating func asksForGeneration(of namespace: TileStoreNamespace, at now: Int64) -> Bool {
        let asked = generations[namespace]?.asked ?? .min
        guard asked == .min || now - asked >= Self.generationAge else { return false }
        makeRoom(for: namespace)
        generations[namespace, default: Generation()].asked = now
        return true
    }

    /// Removes the generation with the oldest query. The servers still have it.
    private mutating func makeRoom(for namespace: TileStoreNamespace) {
        guard generations[namespace] == nil, generations.count >= Self.mostGenerations else { return }
        if let oldest = generations.min(by: { $0.value.asked < $1.value.asked }) { generations[oldest.key] = nil }
    }
}
