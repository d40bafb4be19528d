#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#else
    #error("MemoryRegion needs mmap")
#endif

/// A range of addresses whose pages are committed at their first use and decommitted on request.
final class MemoryRegion: @unchecked Sendable {
    // Immutable after init; the holders synchronize access to the memory.
    let base: UnsafeMutableRawPointer
    let byteCount: Int

    /// Reserves addresses, not memory; `nil` if the system denies them.
    init?(byteCount: Int) {
        let bytes = max(byteCount, 4096)
        #if os(Linux) || os(Android)
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #else
            let flags = MAP_PRIVATE | MAP_ANON
        #endif
        guard let pointer = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0), pointer != MAP_FAILED else {
            return nil
        }
        base = pointer
        self.byteCount = bytes
    }

    deinit { munmap(base, byteCount) }

    /// Decommits a range; it reads as zeros when it is next used.
    func letGo(offset: Int, byteCount: Int) {
        #if os(Linux) || os(Android)
            madvise(base + offset, byteCount, Int32(MADV_DONTNEED))
        #else
            madvise(base + offset, byteCount, MADV_FREE)
        #endif
    }
}
