#if canImport(Glibc)
    import Glibc
#endif

/// Memory that nothing uses and the allocator has kept, and what is in use where only the allocator knows.
enum FreeMemory {
    #if os(Linux) && canImport(Glibc)
        // The Swift overlay of the C library does not have its allocator's own functions.
        private static let trim = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim").map {
            unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
        }
        private static let allocated = dlsym(
            UnsafeMutableRawPointer(bitPattern: 0),
            "__sanitizer_get_current_allocated_bytes"
        ).map { unsafeBitCast($0, to: (@convention(c) () -> Int).self) }
    #endif

    /// Gives it back to the system, where the allocator can: an arena for each thread keeps what one large plan took.
    static func giveBack() {
        #if os(Linux) && canImport(Glibc)
            _ = trim?(0)
        #endif
    }

    /// What the process has in use: its resident bytes, or those of its heap under a sanitizer, whose allocator keeps
    /// what is freed in a quarantine and a record of every place that allocates.
    static func bytesInUse() -> Int? {
        #if os(Linux) && canImport(Glibc)
            if let allocated { return allocated() }
        #endif
        giveBack()
        return ResidentMemory.current()
    }
}
