import Foundation

/// Growth of the process's resident memory since a moment.
final class ResidentMemory {
    private let atStart: Int?
    private var largest: Int?

    init() {
        atStart = Self.current()
        largest = atStart
    }

    func sample() {
        if let now = Self.current() { largest = max(largest ?? 0, now) }
    }

    /// Maximum growth in bytes; `nil` if the system does not report it.
    var growth: Int? {
        guard let atStart, let largest else { return nil }
        return max(largest - atStart, 0)
    }

    /// Resident bytes of this process, without files and shared memory if the system separates them.
    static func current() -> Int? {
        #if os(Linux)
            guard let file = fopen("/proc/self/statm", "r") else { return nil }
            defer { fclose(file) }
            var buffer = [CChar](repeating: 0, count: 256)
            guard fgets(&buffer, 256, file) != nil else { return nil }
            let fields = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(separator: " ")
            guard fields.count > 2, let resident = Int(fields[1]), let shared = Int(fields[2]) else { return nil }
            return (resident - shared) * Int(sysconf(Int32(_SC_PAGESIZE)))
        #else
            return nil
        #endif
    }
}
