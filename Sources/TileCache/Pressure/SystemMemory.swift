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
            let groups = ControlGroups(
                groups: contents(of: root + "/proc/self/cgroup") ?? "",
                mounts: contents(of: root + "/proc/self/mountinfo")
            )
            for (place, folder) in groups.memory.enumerated() {
                readings.takeGroup(folder.version, isOwn: place == 0) { contents(of: root + folder.path + "/" + $0) }
            }
            // The machine's processes may wait where those of the group do not: a neighbour at its own limit does.
            let own = groups.unified.flatMap { contents(of: root + $0 + "/memory.pressure") }
            if let text = own ?? contents(of: root + "/proc/pressure/memory") { readings.takePressure(text) }
        #endif
        return readings
    }

    /// A small text file, up to 1 MiB of it; `nil` if it cannot be read.
    private static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 1 << 20 {
            let got = part.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if got <= 0 { break }
            bytes += part[..<got]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
