import Dispatch

/// When the memory that stores or sources report is read.
struct HeldMemory: Sendable {
    private(set) var due = Int64.min

    /// Whether to read it: at most once a second, or now if the time is `nil`.
    mutating func startMeasuring(now: Int64?) -> Bool {
        guard now ?? due >= due else { return false }
        if let now { due = now + 1_000_000_000 }
        return true
    }

    /// Postpones the next reading by a minute. There was no room: tiles may have been evicted for it in vain.
    mutating func postpone(now: Int64) { due = now + 60_000_000_000 }
}

/// Stores and sources whose memory is read, and the version of the layers that name them; `nil` if it is not due.
private struct MeasuredOwners: Sendable {
    var stores: [any TileStore]?
    var sources: [any MemoryReportingSource]?
    var version: Int
}

/// Bytes that stores and sources report; `nil` if they were not read.
private struct HeldBytes {
    var stores: Int?
    var sources: Int?
}

extension Layers {
    /// Stores that layers name, each once. Asked for without the lock: the result may be the last to release one.
    var stores: [any TileStore] {
        var found: [any TileStore] = []
        for case let tiers? in lazy.map(\.tiers) { found.add(tiers.stores) }
        return found
    }

    /// Sources that report memory, each once. Asked for without the lock: the result may be the last to release one.
    var reporting: [any MemoryReportingSource] {
        var found: [any MemoryReportingSource] = []
        for layer in self {
            guard let source = layer.reporting, !found.contains(where: { $0 === source }) else { continue }
            found.append(source)
        }
        return found
    }
}

extension CoreState {
    /// Requests a plan for when the memory is read again that needed tiles without room may get. Views at rest make none
    /// of their own, and what is given back is only seen by one.
    mutating func planAtNextMeasuring() {
        let stores = stores.byteCount > 0 ? stores.heldMemory.due : .max
        let sources = pool.ledger[.sources] > 0 ? layers.heldMemory.due : .max
        if due.askPlan(at: min(stores, sources)) { effects.setsTimer = true }
    }

    /// Takes the stores and sources whose memory is to be read; `nil` for none.
    fileprivate mutating func beginMeasuring(now: Int64?) -> MeasuredOwners? {
        let stores = stores.startMeasuring(now: now) ? layers.stores : nil
        let sources = layers.startMeasuring(now: now) ? layers.reporting : nil
        if now != nil, views.shortfallBytes > 0 { planAtNextMeasuring() }
        // Sources that have gone hold nothing.
        let isIdle = sources.map { $0.isEmpty && pool.ledger[.sources] == 0 } ?? true
        return stores == nil && isIdle ? nil : MeasuredOwners(stores: stores, sources: sources, version: layers.version)
    }

    /// Bytes by which stores and sources hold more than is charged.
    fileprivate borrowing func growth(to held: HeldBytes) -> Int {
        max((held.stores ?? 0) - stores.byteCount, 0) + max((held.sources ?? 0) - pool.ledger[.sources], 0)
    }

    /// Charges what stores and sources hold. Without room, it is tried again after a minute.
    ///
    /// - Parameter time: Time of a reading that was due; `nil` for one that was not.
    fileprivate mutating func charge(_ held: HeldBytes, measuredAt time: Int64?, now: Int64) {
        let before = pool.ledger.accountBytes
        if let bytes = held.stores {
            if pool.charge(bytes - stores.byteCount, to: .stores) {
                stores.set(byteCount: bytes)
            } else if let time {
                stores.postponeMeasuring(now: time)
            }
        }
        if let bytes = held.sources, !pool.setCharge(bytes, of: .sources), let time {
            layers.postponeMeasuring(now: time)
        }
        // Views at rest may have waited for what is given back.
        if pool.ledger.accountBytes < before { refitShort(now: now) }
    }
}

/// Memory that stores and sources report.
extension CacheCore {
    /// Bytes of a source that no layer has yet.
    func newSourceBytes(_ source: AnySource) -> Int {
        guard let new = source.reporting else { return 0 }
        let known = read { $0.layers.reporting }
        if known.contains(where: { $0 === new }) { return 0 }
        return max(new.heldMemory.bytes, 0)
    }

    /// Updates the bytes that stores and sources hold.
    ///
    /// - Parameters:
    ///   - now: Does nothing if the last update was less than a second ago. Default: nil, update at once.
    ///   - tries: Maximum number of readings. The next plan reads again.
    func noteHeldMemory(now: Int64? = nil, tries: Int = 3) {
        guard let asked = perform({ $0.beginMeasuring(now: now) }) else { return }
        let held = HeldBytes(
            stores: asked.stores?.memorySize.bytes,
            sources: asked.sources?.reduce(ByteCount.bytes(0)) { $0 + $1.heldMemory }.bytes
        )
        let time = clock()
        makeRoom(for: read { $0.growth(to: held) })
        // The reading would leave out a layer that was added meanwhile, or count one that was removed.
        let isCurrent = perform { state -> Bool in
            guard state.layers.version == asked.version else { return false }
            state.charge(held, measuredAt: now, now: time)
            return true
        }
        if !isCurrent, tries > 1 { noteHeldMemory(tries: tries - 1) }
    }
}

/// The part of the limit that stores are to keep to.
extension CacheCore {
    /// An eighth of the limit, for all stores together.
    static let storeShare = 8

    /// Tells stores what they are allowed. May wait for their look-ups.
    ///
    /// - Parameter new: Stores of a layer that is about to be added. Default: none.
    func limitStores(with new: [any TileStore] = []) {
        guard configuration.limitsStores else { return }
        while true {
            var (stores, limit, version) = read { ($0.layers.stores, $0.pool.ledger.limit, $0.layers.version) }
            stores.add(new)
            for store in stores {
                store.limitMemory(to: .bytes(limit / Self.storeShare / stores.count), for: Int(serial))
            }
            // Another thread may have told them meanwhile what a later list or limit allows.
            if read({ $0.layers.version == version && $0.pool.ledger.limit == limit }) { return }
        }
    }

    /// The same on the stores' queue, after a change of the limit or of the layers, and notes what they hold then.
    func limitStoresLater() {
        guard !isForked, read({ !$0.layers.stores.isEmpty }) else { return }
        activity.enter()
        executor.run(storeQueue) { [self] in
            limitStores()
            noteHeldMemory()
            activity.leave()
        }
    }

    /// Tells stores that no layer names any more that they are allowed what they want.
    func releaseStores(_ stores: [any TileStore]) {
        let used = read { $0.layers.stores }
        let released = stores.filter { store in !used.contains { $0 === store } }
        guard !released.isEmpty else { return }
        for store in released { store.limitMemory(to: nil, for: Int(serial)) }
        // The others may have more, and a layer that names one of these may have been added meanwhile.
        limitStoresLater()
    }
}

extension [any TileStore] {
    /// Adds those that are not there yet.
    fileprivate mutating func add(_ others: [any TileStore]) {
        for store in others where !contains(where: { $0 === store }) { append(store) }
    }
}
