import Dispatch
import TileCache

/// The filter that knows the entries without I/O: changed with each commit, and built in steps.
extension DiskStoreCore {
    /// Entries that are added to the filter in one step; writes run between the steps.
    private static let buildStep = 4096

    func apply(_ changes: [DiskChange]) {
        var isFull = false
        func change(_ filter: inout CuckooFilter, _ change: DiskChange) {
            switch change {
            case .added(let id): if !filter.insert(id) { isFull = true }
            case .removed(let id): filter.remove(id)
            }
        }
        if let (begun, last) = building {
            var filter = begun
            building = nil
            // What is further on in the table is found there.
            for item in changes where last.map({ item.place <= $0 }) ?? false { change(&filter, item) }
            building = isFull ? nil : (filter, last)
            if isFull { queue.async { self.buildFilter() } }
        }
        let entries = writer?.entries
        let mustBuild = state.withLock { state in
            state.counts.entries = entries
            for case .removed(let id) in changes { state.hits.remove(id) }
            guard state.filter != nil else { return false }
            for item in changes { change(&state.filter!, item) }
            guard isFull || state.filter!.isSparse else { return false }
            state.filter = nil
            return true
        }
        if mustBuild { queue.async { self.buildFilter() } }
    }

    /// Begins a new filter. It is built in steps of a few thousand entries, between which writes run.
    func buildFilter() {
        guard let writer, building == nil else { return }
        let filter = CuckooFilter(expecting: writer.entries)
        state.withLock { state in
            state.filter = nil
            state.buildingBytes = filter.byteCount
        }
        building = (filter, nil)
        continueFilter()
    }

    /// Adds the next entries. After a failure, the same ones are tried again after a pause.
    func continueFilter() {
        guard var (filter, last) = building else { return }
        building = nil
        var ids: [UInt64] = []
        let isRead = attempt(isWriting: false) { writer throws(SQLFailure) in
            ids = try writer.ids(after: last, limit: Self.buildStep)
        }
        guard isRead else {
            // Damaged files may have been replaced: there is a filter then.
            guard state.withLock({ $0.filter == nil }) else { return state.withLock { $0.buildingBytes = 0 } }
            building = (filter, last)
            filterPause.fail(at: .now)
            return queue.asyncAfter(deadline: .now() + .nanoseconds(Int(filterPause.length))) {
                [weak self] in self?.continueFilter()
            }
        }
        filterPause.succeed()
        var hasRoom = true
        for id in ids where hasRoom { hasRoom = filter.insert(id) }
        // No room: there are more entries than the counter states, which is damaged. Without a filter presence is unknown.
        guard hasRoom else { return state.withLock { $0.buildingBytes = 0 } }
        guard ids.count == Self.buildStep else {
            let complete = filter
            return state.withLock { $0.filter = complete }
        }
        last = ids.last.map { Int64(bitPattern: $0) }
        building = (filter, last)
        queue.async { self.continueFilter() }
    }
}

extension DiskChange {
    fileprivate var place: Int64 {
        switch self {
        case .added(let id), .removed(let id): Int64(bitPattern: id)
        }
    }
}
