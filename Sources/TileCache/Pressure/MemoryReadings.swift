/// Memory readings of Linux, parsed from the contents of its text files.
struct MemoryReadings: Sendable, Hashable {
    /// Memory limit of the control group in bytes; `nil` if there is none. The minimum of its own limits and those of
    /// its ancestors.
    var limit: Int?
    /// Largest use of the process's group and its ancestors, each as a part of its own limit, without file contents that
    /// the system can drop. The use of other processes in a group counts.
    var use = 0.0
    /// Percent of the last ten seconds in which some, or all, processes waited for memory.
    var some = 0.0
    var all = 0.0

    /// Fractions of the limit at which memory is short and critical. Chosen so that a cache shrinks before the system
    /// kills processes, which it does at the limit.
    static let warningUse = 0.85
    static let criticalUse = 0.95
    /// Thresholds of the time that some, or all, processes wait for memory, in percent. Stutter is visible from the
    /// first, little work is done from the second.
    static let warningStall = 10.0
    static let criticalStall = 10.0

    var level: MemoryPressureMonitor.Level {
        if use >= Self.criticalUse || all >= Self.criticalStall { return .critical }
        return use >= Self.warningUse || some >= Self.warningStall ? .warning : .normal
    }

    /// Reads a pressure file (`/proc/pressure/memory` or a group's `memory.pressure`): `some avg10=0.12 avg60=0.00
    /// avg300=0.00 total=123`. Lines that cannot be parsed are ignored.
    mutating func takePressure(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let kind = words.first,
                let word = words.first(where: { $0.hasPrefix("avg10=") }),
                let value = Double(word.dropFirst("avg10=".count)), value.isFinite, value >= 0
            else { continue }
            if kind == "some" { some = max(some, value) }
            if kind == "full" { all = max(all, value) }
        }
    }

    /// Reads the files of a group.
    ///
    /// - Parameters:
    ///   - limits: `memory.max` and `memory.high`: a number of bytes, or `max`.
    ///   - current: `memory.current`, the bytes in use.
    ///   - statistics: `memory.stat`, which tells how many of them can be dropped.
    mutating func takeGroup(limits: [String], current: String, statistics: String) {
        guard let own = limits.compactMap(Self.number).min() else { return }
        limit = min(limit ?? .max, own)
        guard let bytes = Self.number(current), own > 0 else { return }
        var reclaimable = 0
        for line in statistics.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == "inactive_file" { reclaimable = Int(words[1]) ?? 0 }
        }
        use = max(use, Double(bytes - max(reclaimable, 0)) / Double(own))
    }

    /// Folders of a process's control group and its ancestors, innermost first. From `/proc/self/cgroup`, the line
    /// `0::/some/path` of version 2. Empty if there is none.
    static func groupFolders(_ text: String) -> [String] {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return [] }
        var parts = line.dropFirst("0::".count).split(separator: "/")
        // The group is outside of the process's namespace.
        guard !parts.contains("..") else { return ["/sys/fs/cgroup"] }
        var folders: [String] = []
        while true {
            folders.append(parts.reduce("/sys/fs/cgroup") { $0 + "/" + $1 })
            if parts.popLast() == nil { return folders }
        }
    }

    private static func number(_ text: String) -> Int? {
        let digits = text.split { $0 == "\n" || $0 == " " }
        guard digits.count == 1, let value = Int(digits[0]), value >= 0 else { return nil }
        return value
    }
}

extension ByteCount {
    /// Suggests a byte limit for the machine. An eighth of the available memory, 16 to 512 MiB. In a container, of the
    /// container's limit.
    public static var automatic: ByteCount {
        automatic(physical: SystemMemory.physicalBytes, container: SystemMemory.readings().limit)
    }

    static func automatic(physical: Int, container: Int?) -> ByteCount {
        let available = max(min(physical, container ?? .max), 0)
        // Never more than half of the memory, however small.
        let least = min(16 << 20, available / 2)
        return .bytes(max(min(max(available / 8, least), 512 << 20), 1))
    }
}
