#if canImport(Glibc)
    import Glibc
#endif

/// Measures the memory in use, once the allocator has released what is free.
enum FreeMemory {
    #if os(Linux) && canImport(Glibc)
        // The Swift overlay of the C library lacks its allocator's functions.
        private static let trim = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim").map {
            unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
        }
        private static let allocated = dlsym(
            UnsafeMutableRawPointer(bitPattern: 0),
            "__sanitizer_get_current_allocated_bytes"
        ).map { unsafeBitCast($0, to: (@convention(c) () -> Int).self) }
    #endif

    /// Memory in use by the process: its resident bytes, or its heap's under a sanitizer. A sanitizer's allocator keeps
    /// freed memory in a quarantine and records every allocation.
    static func bytesInUse() -> Int? {
        #if os(Linux) && canImport(Glibc)
            if let allocated { return allocated() }
            // Free memory goes back to the system: an arena for each thread keeps that of one large plan.
            _ = trim?(0)
        #endif
        return ResidentMemory.current()
    }
}
