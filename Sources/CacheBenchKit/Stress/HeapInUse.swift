import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Bytes that the process has allocated and not freed, by its allocator's own account.
///
/// Resident memory does not show a leak: each arena of the allocator keeps the memory that one large plan took, and the
/// pieces between what is in use.
enum HeapInUse {
    #if os(Linux) && canImport(Glibc)
        // The Swift overlay of the C library lacks its allocator's functions.
        private static let info = symbol("malloc_info").map {
            unsafeBitCast($0, to: (@convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32).self)
        }
        private static let sanitized = symbol("__sanitizer_get_current_allocated_bytes").map {
            unsafeBitCast($0, to: (@convention(c) () -> Int).self)
        }

        private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
            dlsym(UnsafeMutableRawPointer(bitPattern: 0), name)
        }
    #endif

    /// The present bytes; `nil` if the allocator gives no figure. Pages that the pool maps itself are not included.
    static func bytes() -> Int? {
        #if os(Linux) && canImport(Glibc)
            if let sanitized { return sanitized() }
            guard let info else { return nil }
            // The stream keeps both pointers until it is closed.
            let text = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 1)
            let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
            text.initialize(to: nil)
            count.initialize(to: 0)
            defer {
                free(text.pointee)
                text.deallocate()
                count.deallocate()
            }
            guard let stream = open_memstream(text, count) else { return nil }
            let isDone = info(0, stream) == 0
            fclose(stream)
            return isDone ? text.pointee.flatMap { bytes(inAccount: String(cString: $0)) } : nil
        #else
            return nil
        #endif
    }

    /// The bytes in use by the text of `malloc_info`, whose sums of all arenas come last.
    static func bytes(inAccount text: String) -> Int? {
        let sums = text.components(separatedBy: "</heap>").last ?? ""
        func size(_ tag: String) -> Int? {
            guard let element = sums.components(separatedBy: "<\(tag) ").dropFirst().first else { return nil }
            let parts = element.prefix { $0 != "/" }.components(separatedBy: "size=\"")
            return parts.count == 2 ? Int(parts[1].prefix { $0 != "\"" }) : nil
        }
        guard let system = size("system type=\"current\""), let mapped = size("total type=\"mmap\""),
            let fast = size("total type=\"fast\""), let rest = size("total type=\"rest\"")
        else { return nil }
        return system + mapped - fast - rest
    }
}
