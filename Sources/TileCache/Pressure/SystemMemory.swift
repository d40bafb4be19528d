#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the system's figures of memory and processors.
enum SystemMemory {
    static var processorCount: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

    /// Memory of the machine in bytes; 1 GiB if it is unknown.
    static var physicalBytes: Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let (bytes, overflow) = pages.multipliedReportingOverflow(by: MemoryRegion.systemPageBytes)
        return overflow || bytes <= 0 ? 1 << 30 : bytes
    }

    /// Reads the figures of the process's control group and of the machine on Linux. Empty elsewhere.
    ///
    /// - Parameter root: Root of the system's files, replaced in tests.
    static func readings(root: String = "") -> MemoryReadings {
        var readings = MemoryReadings()
        #if os(Linux) || os(Android)
            let folders = MemoryReadings.groupFolders(contents(of: root + "/proc/self/cgroup") ?? "")
                .map { root + $0 }
            for folder in folders {
                readings.takeGroup(
                    limits: ["memory.max", "memory.high"].compactMap { contents(of: folder + "/" + $0) },
                    current: contents(of: folder + "/memory.current") ?? "",
                    statistics: contents(of: folder + "/memory.stat") ?? ""
                )
            }
            if let folder = folders.first, let text = contents(of: folder + "/memory.pressure") {
                readings.takePressure(text)
            }
            if let text = contents(of: root + "/proc/pressure/memory") { readings.takePressure(text) }
        #endif
        return readings
    }

    /// First 16 KiB of a small text file; `nil` if it cannot be read.
    private static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                read(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got <= 0 { break }
            count += got
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
