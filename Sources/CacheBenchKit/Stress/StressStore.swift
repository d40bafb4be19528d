import Foundation
import TileCache

/// A store in memory that is slow, and loses, refuses and damages entries.
///
/// An entry that it lends is whole, as the protocol demands: damaged bytes are misses by their checksums.
final class StressStore: TileStore {
    private struct State {
        var entries: [TileStoreKey: [UInt8]] = [:]
        var generations: [TileStoreNamespace: UInt64] = [:]
        var random: SplitMix64
    }

    /// Maximum number of entries; one of them goes for another. Few, so that the store is full within a minute: one that
    /// fills for longer looks like memory that grows.
    private static let mostEntries = 400
    private let state: Lock<State>
    private let calm: StressFlag
    /// Whether absences are known without a look-up.
    private let hasFilter: Bool

    init(seed: UInt64, hasFilter: Bool, calm: StressFlag) {
        self.hasFilter = hasFilter
        self.calm = calm
        state = Lock(State(random: SplitMix64(seed: seed)))
    }

    var keepsUndrawnTiles: Bool { !hasFilter }

    var statistics: TileStoreStatistics {
        var statistics = TileStoreStatistics()
        // What a store holds changes with time.
        statistics.memorySize = .bytes(state.withLock { $0.entries.count } * 16)
        return statistics
    }

    private func draw() -> UInt64 { state.withLock { $0.random.next() } }

    func presence(of key: TileStoreKey) -> TileStorePresence {
        guard hasFilter else { return .unknown }
        return state.withLock { state in
            // A filter errs now and then.
            state.entries[key] == nil && state.random.next() % 64 > 0 ? .absent : .present
        }
    }

    func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        let bits = draw()
        if !calm.isUp {
            if bits % 16 == 0 { usleep(UInt32(bits >> 8 % 5000)) }
            if bits % 50 == 1 { return .failed }
        }
        let (found, generation) = state.withLock { ($0.entries[key], $0.generations[key.namespace] ?? 0) }
        guard var bytes = found else { return .absent }
        if bits % 40 == 2, !calm.isUp { bytes[Int(bits >> 8 % UInt64(bytes.count))] ^= 1 << (bits >> 40 & 7) }
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
        guard let bytes = entry.encoded() else { return .refused }
        return state.withLock { state in
            switch state.random.next() % 32 {
            case 0: return .dropped
            case 1: return .refused
            default: break
            }
            guard entry.generation >= state.generations[entry.key.namespace] ?? 0 else { return .refused }
            if state.entries.count >= Self.mostEntries, let other = state.entries.keys.first {
                state.entries[other] = nil
            }
            state.entries[entry.key] = bytes
            return .accepted
        }
    }

    func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness) {}

    func remove(_ keys: [TileStoreKey]) -> Bool {
        let fails = draw() % 64 == 0
        state.withLock { state in
            for (index, key) in keys.enumerated() where !fails || index.isMultiple(of: 2) { state.entries[key] = nil }
        }
        return !fails
    }

    func remove(_ namespace: TileStoreNamespace) -> Bool {
        state.withLock { $0.entries = $0.entries.filter { $0.key.namespace != namespace } }
        return true
    }

    func generation(of namespace: TileStoreNamespace) -> UInt64 {
        let bits = draw()
        if bits % 8 == 0, !calm.isUp { usleep(UInt32(bits >> 8 % 5000)) }
        return state.withLock { $0.generations[namespace] ?? 0 }
    }

    func raiseGeneration(of namespace: TileStoreNamespace, to generation: UInt64) -> Bool {
        state.withLock { $0.generations[namespace] = max($0.generations[namespace] ?? 0, generation) }
        return true
    }

    func close() {}
}
