import TileCache

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Waits for real threads until a condition holds. Returns false after ten minutes at least, which only ends a run that
/// hangs.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<1_200_000 {
        if condition() { return true }
        usleep(500)
    }
    return condition()
}
