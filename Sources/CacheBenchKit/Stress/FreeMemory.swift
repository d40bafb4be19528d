#if canImport(Glibc)
    import Glibc
#endif

/// Memory that nothing uses and the allocator has kept.
enum FreeMemory {
    #if os(Linux) && canImport(Glibc)
        // The Swift overlay of the C library does not have its allocator's own functions.
        private static let trim = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim").map {
            unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
        }
    #endif

    /// Gives it back to the system, where the allocator can: an arena for each thread keeps what one large plan took.
    static func giveBack() {
        #if os(Linux) && canImport(Glibc)
            _ = trim?(0)
        #endif
    }
}
