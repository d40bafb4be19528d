import Dispatch
import TileCache

/// Memory of the store: what caches allow is divided among its parts.
extension DiskStoreCore {
    /// Divides the memory anew, if it has to be. On the queue.
    func fitMemory() {
        let (now, wanted) = state.withLock { ($0.memory, $0.wantedMemory(options)) }
        guard now != wanted else { return }
        state.withLock { state in
            state.shrink(to: wanted)
            // What grows counts before it is used, what shrinks until it is given back.
            if wanted.divisor < now.divisor { state.memory = wanted }
        }
        // The log may have more uses than it may keep.
        if state.withLock({ $0.hits.isFull }), writer?.connection.isReadOnly == false { storeUses() }
        pool.resize(connections: wanted.readers, pages: wanted.readerPages)
        guard let writer else { return }
        // A connection that fails at this fails at the next write, too.
        guard (try? writer.setMemory(wanted)) != nil else { return }
        state.withLock { $0.memory = wanted }
    }

    /// Sets what a cache allows, and divides the memory anew. Waits a little: other work on the queue may take minutes.
    func allow(_ bytes: Int?, to user: Int) {
        let mustFit = state.withLock { state in
            state.allowances[user] = bytes
            return !state.isClosed && state.wantedMemory(options) != state.memory
        }
        guard mustFit else { return }
        let work = DispatchWorkItem { [self] in fitMemory() }
        queue.async(execute: work)
        _ = work.wait(timeout: .now() + .milliseconds(200))
    }
}
