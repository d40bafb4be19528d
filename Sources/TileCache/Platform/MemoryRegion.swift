#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#else
    #error("MemoryRegion needs mmap")
#endif

/// A range of addresses. Pages are committed at their first use and decommitted on request.
package final class MemoryRegion: @unchecked Sendable {
    // Immutable after init; the holders synchronize access to the memory.
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    /// Reserves addresses, not memory; `nil` if the system denies them.
    package init?(byteCount: Int) {
        let bytes = max(byteCount, 1)
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
        Self.keepSmallPages(pointer, bytes)
    }

    /// Excludes a range from transparent huge pages.
    ///
    /// With huge pages, the first touch of a slot commits all of the 2 MiB around it, and a decommit of less returns
    /// nothing to the control group. Where the system has none, there is nothing to exclude.
    private static func keepSmallPages(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
        #if os(Linux) || os(Android)
            _ = madvise(start, byteCount, Int32(MADV_NOHUGEPAGE))
        #endif
    }

    deinit { munmap(base, byteCount) }

    /// Bytes of a page of the system. A range that is decommitted begins and ends on one.
    package static let systemPageBytes = max(Int(sysconf(Int32(_SC_PAGESIZE))), 4096)

    /// Commits a range of whole pages that will be written to.
    ///
    /// One call for a slot takes half as long as the faults of its pages, one after the other. What the system refuses, as
    /// Linux before 5.14 does, is committed at its first use.
    func populate(offset: Int, byteCount: Int) {
        precondition(
            offset >= 0 && byteCount >= 0 && byteCount <= self.byteCount - offset,
            "a range beyond the region's addresses"
        )
        #if os(Linux) || os(Android)
            // MADV_POPULATE_WRITE, which older headers lack.
            _ = madvise(base + offset, byteCount, 23)
        #endif
    }

    /// Decommits a range of whole pages. On Linux it reads as zeros afterwards.
    func decommit(offset: Int, byteCount: Int) {
        #if os(Linux) || os(Android)
            let advice = Int32(MADV_DONTNEED)
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED
        #else
            let advice = MADV_FREE
            let flags = MAP_PRIVATE | MAP_ANON | MAP_FIXED
        #endif
        precondition(
            offset >= 0 && byteCount >= 0 && byteCount <= self.byteCount - offset,
            "a range beyond the region's addresses"
        )
        let start = base + offset
        guard madvise(start, byteCount, advice) != 0 else { return }
        // The system refuses the advice for locked memory, for example. A new mapping in place of the range has no
        // memory either, unless all that the process maps is locked. If the system denies that too, the memory stays
        // and is used again.
        let fresh = mmap(start, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
        if fresh == start { Self.keepSmallPages(start, byteCount) }
        assert(fresh == start, "memory cannot be decommitted: \(byteCount) bytes at offset \(offset)")
    }
}

extension Int {
    /// The next multiple of a page, which is a power of two. The largest multiple if there is none.
    package func roundedUp(toPages pageBytes: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(pageBytes - 1)
        return (overflow ? .max : sum) & ~(pageBytes - 1)
    }
}
