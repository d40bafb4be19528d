@testable import TileCache

/// A store in a dictionary, with the behaviour that a cache expects of a store.
final class MemoryStore: DistantStore {
    private struct State {
        var entries: [TileStoreKey: [UInt8]] = [:]
        var generations: [TileStoreNamespace: UInt64] = [:]
        var gets: [TileStoreKey: Int] = [:]
        var puts: [TileStoreKey: Int] = [:]
        var kinds: [TileStorePayload: Int] = [:]
        var renewals = 0
        var removals = 0
        var givenUp: [TileCoordinate] = []
        var late = 0
        var memorySize = ByteCount.bytes(0)
        var allowances: [Int: Int] = [:]
        var answer = TileStorePut.accepted
        var misses: TileStoreMiss?
        var knowsAbsences = true
        var whileGetting: (@Sendable () -> Void)?
        var afterReading: (@Sendable () -> Void)?
        var afterPutting: (@Sendable () -> Void)?
        var whileReadingGeneration: (@Sendable () -> Void)?
        var refuses: (@Sendable () -> Bool)?
        var storedGeneration: UInt64 = 0
        var lateGeneration: UInt64?
    }

    private let state = Lock(State())
    let keepsUndrawnTiles: Bool

    init(keepsUndrawnTiles: Bool = false, memorySize: ByteCount = .bytes(0)) {
        self.keepsUndrawnTiles = keepsUndrawnTiles
        state.withLock { $0.memorySize = memorySize }
    }

    var label: String { "memory" }
    var count: Int { state.withLock { $0.entries.count } }
    var gets: Int { state.withLock { $0.gets.values.reduce(0, +) } }
    var puts: Int { state.withLock { $0.puts.values.reduce(0, +) } }
    /// Look-ups whose deadline had passed before they started.
    var late: Int { state.withLock { $0.late } }
    /// Calls that removed single tiles.
    var removals: Int { state.withLock { $0.removals } }
    var givenUp: [TileCoordinate] { state.withLock { $0.givenUp } }
    var renewals: Int { state.withLock { $0.renewals } }
    var mostPuts: Int { state.withLock { $0.puts.values.max() ?? 0 } }
    var answer: TileStorePut {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
    }
    /// What each look-up ends with. Default: nil, the entry.
    var misses: TileStoreMiss? {
        get { state.withLock { $0.misses } }
        set { state.withLock { $0.misses = newValue } }
    }
    var knowsAbsences: Bool {
        get { state.withLock { $0.knowsAbsences } }
        set { state.withLock { $0.knowsAbsences = newValue } }
    }
    var whileGetting: (@Sendable () -> Void)? {
        get { state.withLock { $0.whileGetting } }
        set { state.withLock { $0.whileGetting = newValue } }
    }
    /// Called once between the reading of an entry and its use.
    var afterReading: (@Sendable () -> Void)? {
        get { state.withLock { $0.afterReading } }
        set { state.withLock { $0.afterReading = newValue } }
    }
    /// Called once after an entry was put, before the call returns.
    var afterPutting: (@Sendable () -> Void)? {
        get { state.withLock { $0.afterPutting } }
        set { state.withLock { $0.afterPutting = newValue } }
    }
    var whileReadingGeneration: (@Sendable () -> Void)? {
        get { state.withLock { $0.whileReadingGeneration } }
        set { state.withLock { $0.whileReadingGeneration = newValue } }
    }
    var memorySize: ByteCount {
        get { state.withLock { $0.memorySize } }
        set { state.withLock { $0.memorySize = newValue } }
    }

    /// Bytes that each cache allows.
    var allowances: [Int: Int] { state.withLock { $0.allowances } }

    func limitMemory(to bytes: ByteCount?, for user: Int) {
        state.withLock { $0.allowances[user] = bytes?.bytes }
    }

    /// Whether to fail removals and raises. Default: nil, none.
    var refuses: (@Sendable () -> Bool)? {
        get { state.withLock { $0.refuses } }
        set { state.withLock { $0.refuses = newValue } }
    }
    /// The generation that is known while the store does not answer, and takes no other. Default: nil, it answers.
    var lateGeneration: UInt64? {
        get { state.withLock { $0.lateGeneration } }
        set { state.withLock { $0.lateGeneration = newValue } }
    }
    /// The highest generation that a next run of a program would find.
    var storedGeneration: UInt64 { state.withLock { $0.storedGeneration } }

    var firstKey: TileStoreKey? { state.withLock { $0.entries.keys.first } }

    /// All entries, and the first byte of the payload of each.
    var all: [(entry: TileStoreEntry, first: UInt8?)] {
        state.withLock { state in
            state.entries.values.map { bytes in
                bytes.withUnsafeBytes { bytes in
                    let count = try! TileStoreEntry.headerByteCount(bytes)
                    let header = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                    return (try! TileStoreEntry.read(header: header).entry, bytes[count...].first)
                }
            }
        }
    }

    func puts(of kind: TileStorePayload) -> Int { state.withLock { $0.kinds[kind] ?? 0 } }

    /// Changes the bytes of all entries.
    func damage(_ body: (inout [UInt8]) -> Void) {
        state.withLock { state in
            for key in Array(state.entries.keys) { body(&state.entries[key]!) }
        }
    }

    var statistics: TileStoreStatistics {
        var statistics = TileStoreStatistics()
        statistics.memorySize = memorySize
        return statistics
    }

    func presence(of key: TileStoreKey) -> TileStorePresence {
        state.withLock { state in
            guard state.knowsAbsences else { return .unknown }
            return state.entries[key] == nil ? .absent : .present
        }
    }

    func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        whileGetting?()
        if let deadline, deadline < .now { state.withLock { $0.late += 1 } }
        let (bytes, generation) = state.withLock { state in
            state.gets[key, default: 0] += 1
            return (state.entries[key], state.generations[key.namespace] ?? 0)
        }
        if let misses { return misses }
        guard let bytes else { return .absent }
        let hook = afterReading
        afterReading = nil
        hook?()
        return bytes.withUnsafeBytes { bytes -> TileStoreMiss? in
            do throws(TileStoreMiss) {
                body(try TileStoreEntry(decoding: bytes, key: key, shape: shape, minimumGeneration: generation))
                return nil
            } catch {
                return error
            }
        }
    }

    func put(_ entry: TileStoreEntry, cost: Duration) -> TileStorePut {
        let bytes = entry.encoded()
        let hook = afterPutting
        afterPutting = nil
        defer { hook?() }
        return state.withLock { state in
            guard state.answer == .accepted, let bytes else { return state.answer }
            state.entries[entry.key] = bytes
            state.puts[entry.key, default: 0] += 1
            state.kinds[entry.kind, default: 0] += 1
            return .accepted
        }
    }

    func giveUp(_ key: TileStoreKey) { state.withLock { $0.givenUp.append(key.tile) } }

    func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness) {
        state.withLock { state in
            state.renewals += 1
            guard let bytes = state.entries[key] else { return }
            state.entries[key] = bytes.withUnsafeBytes { bytes in
                let count = try! TileStoreEntry.headerByteCount(bytes)
                var entry = try! TileStoreEntry.read(header: UnsafeRawBufferPointer(rebasing: bytes[..<count])).entry
                entry.payload = UnsafeRawBufferPointer(rebasing: bytes[count...])
                entry.freshness = freshness
                return entry.encoded()!
            }
        }
    }

    func remove(_ keys: [TileStoreKey]) -> Bool {
        if refuses?() == true { return false }
        state.withLock { state in
            state.removals += 1
            for key in keys { state.entries[key] = nil }
        }
        return true
    }

    func remove(_ namespace: TileStoreNamespace) -> Bool {
        state.withLock { $0.entries = $0.entries.filter { $0.key.namespace != namespace } }
        return true
    }

    func generation(of namespace: TileStoreNamespace) -> UInt64 {
        whileReadingGeneration?()
        return state.withLock { $0.generations[namespace] ?? 0 }
    }

    func readGeneration(of namespace: TileStoreNamespace) -> (generation: UInt64, isAnswer: Bool) {
        if let lateGeneration { return (lateGeneration, false) }
        return (generation(of: namespace), true)
    }

    func raiseGeneration(of namespace: TileStoreNamespace, to generation: UInt64) -> Bool {
        if lateGeneration != nil { return false }
        let isRefused = refuses?() == true
        return state.withLock { state in
            state.generations[namespace] = max(state.generations[namespace] ?? 0, generation)
            if !isRefused { state.storedGeneration = max(state.storedGeneration, generation) }
            return !isRefused
        }
    }

    func close() {}
}
