import TileCache

/// Large buffers of a source's loads, each with pages of its own.
///
/// The allocator would keep most of such a buffer when it is freed: glibc holds memory for each thread's later requests,
/// and no longer gives large ones pages of their own after the first. Some buffers are kept for the next load, since fresh
/// pages cost more than what is written to them; others go back to the system.
final class ScratchMemory: Sendable {
    /// Bytes of buffers that are kept.
    static let mostIdle = 2 << 20
    /// Buffers have a size of a power of two, so that those of one size serve similar ones.
    private static let leastBytes = 64 << 10

    private struct State {
        var idle: [MemoryRegion] = []
        var idleBytes = 0
        var lentBytes = 0
    }

    private let state = Lock(State())

    /// A copy of bytes.
    func copy(_ bytes: UnsafeRawBufferPointer) -> FileContents {
        guard let copy = lend(bytes.count) else { return .failed(.noMemory(bytes.count)) }
        UnsafeMutableRawBufferPointer(copy.memory).copyMemory(from: bytes)
        return .bytes(copy)
    }

    /// Bytes of all buffers, lent or kept.
    var byteCount: Int { state.withLock { $0.idleBytes + $0.lentBytes } }

    /// Lends a buffer until the last reference to it is released; `nil` if there is no memory. Its contents are undefined.
    func lend(_ byteCount: Int) -> ScratchBytes? {
        guard byteCount <= 1 << 40 else { return nil }
        var size = Self.leastBytes
        while size < byteCount { size *= 2 }
        let kept = state.withLock { state -> MemoryRegion? in
            state.lentBytes += size
            guard let place = state.idle.firstIndex(where: { $0.byteCount == size }) else { return nil }
            state.idleBytes -= size
            return state.idle.remove(at: place)
        }
        if let region = kept ?? MemoryRegion(byteCount: size) { return ScratchBytes(region, byteCount, of: self) }
        state.withLock { $0.lentBytes -= size }
        return nil
    }

    /// Counts memory that a library takes of the system meanwhile.
    func counting<Value, Failure>(
        _ byteCount: Int,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        state.withLock { $0.lentBytes += byteCount }
        defer { state.withLock { $0.lentBytes -= byteCount } }
        return try body()
    }

    fileprivate func takeBack(_ region: MemoryRegion) {
        // What is not kept is unmapped after the lock is released.
        var gone: [MemoryRegion] = [region]
        state.withLock { state in
            state.lentBytes -= region.byteCount
            guard region.byteCount <= Self.mostIdle else { return }
            // The oldest go: their sizes may not be asked for any more.
            gone = []
            state.idle.append(region)
            state.idleBytes += region.byteCount
            while state.idleBytes > Self.mostIdle {
                state.idleBytes -= state.idle[0].byteCount
                gone.append(state.idle.removeFirst())
            }
        }
        withExtendedLifetime(gone) {}
    }
}

/// A lent buffer, used by one thread at a time.
final class ScratchBytes: @unchecked Sendable {
    private let region: MemoryRegion
    private let owner: ScratchMemory
    private(set) var memory: UnsafeMutableBufferPointer<UInt8>

    fileprivate init(_ region: MemoryRegion, _ count: Int, of owner: ScratchMemory) {
        self.region = region
        self.owner = owner
        memory = UnsafeMutableBufferPointer(start: region.base.assumingMemoryBound(to: UInt8.self), count: count)
    }

    deinit { owner.takeBack(region) }

    /// A copy of the bytes.
    var array: [UInt8] { withExtendedLifetime(self) { Array(memory) } }

    /// Leaves out what could not be filled.
    func shorten(to count: Int) { memory = UnsafeMutableBufferPointer(rebasing: memory[..<count]) }
}
