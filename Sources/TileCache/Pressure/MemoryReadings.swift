/// Memory readings of Linux, parsed from the contents of its text files.
struct MemoryReadings: Sendable, Hashable {
    /// Memory limit of the control group in bytes; `nil` if there is none. The minimum of its own limits and those of
    /// its ancestors.
    var limit: Int?
    /// Largest use of the process's group and its ancestors, each as a part of its own limit, without file contents that
    /// the system can drop. The use of other processes in a group counts.
    var use = 0.0
    /// Percent of the last ten seconds in which some, or all, processes waited for memory: those of the process's group,
    /// or of the machine if the group has no figures.
    var some = 0.0
    var all = 0.0
    /// Events of the process's group and its ancestors.
    var events = Events()

    /// Counts of what happened at a group's own limits since it was made. They say nothing on the groups within it.
    struct Events: Sendable, Hashable {
        /// Times that memory was reclaimed at a limit. Often of file contents, which costs nothing.
        var reclaims = 0
        /// Times that nothing was left to reclaim, and processes that were killed.
        var failures = 0
    }

    /// Fractions of the limit at which memory is short and critical. Chosen so that a cache shrinks before the system
    /// kills processes, which it does at the limit.
    static let warningUse = 0.85
    static let criticalUse = 0.95
    /// Thresholds of the time that some, or all, processes wait for memory, in percent. Stutter is visible from the
    /// first, little work is done from the second.
    static let warningStall = 10.0
    static let criticalStall = 10.0
    /// The same for a group that has just reclaimed memory at a limit: the mean of ten seconds lags behind.
    static let reclaimingStall = 1.0

    /// Level of pressure.
    ///
    /// Stalls and events first: file contents fill any group without harm. What cannot be dropped counts as well, since a
    /// group without swap does not stall before its processes are killed.
    ///
    /// - Parameter earlier: Events of the reading before; `nil` if this is the first.
    func level(since earlier: Events?) -> MemoryPressureLevel {
        let earlier = earlier ?? events
        if all >= Self.criticalStall || events.failures > earlier.failures || use >= Self.criticalUse {
            return .critical
        }
        let stall = events.reclaims > earlier.reclaims ? Self.reclaimingStall : Self.warningStall
        return some >= stall || use >= Self.warningUse ? .warning : .normal
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
    ///   - version: Version of its hierarchy.
    ///   - isOwn: Whether it is the process's own and not one around it.
    ///   - file: Contents of a file of the group; `nil` if there is none.
    mutating func takeGroup(_ version: ControlGroups.Version, isOwn: Bool = true, file: (String) -> String?) {
        let statistics = Self.counts(file("memory.stat"))
        takeEvents(version, isOwn: isOwn, file)
        let limits =
            version == .two
            ? ["memory.max", "memory.high"].map { file($0).flatMap(Self.number) }
            : [file("memory.limit_in_bytes").flatMap(Self.number)]
        // What version 1 writes for none.
        func isLimit(_ bytes: Int) -> Bool { bytes < 1 << 60 }
        // Also of ancestors that are not visible.
        let around = version == .one ? statistics["hierarchical_memory_limit"].map { [$0] } ?? [] : []
        for bytes in limits.compactMap({ $0 }) + around where isLimit(bytes) { limit = min(limit ?? .max, bytes) }
        guard let own = limits.compactMap({ $0 }).filter(isLimit).min(), own > 0,
            let used = file(version == .two ? "memory.current" : "memory.usage_in_bytes").flatMap(Self.number)
        else { return }
        use = max(use, Double(max(used - Self.droppable(statistics, version), 0)) / Double(own))
    }

    /// File contents that need not be written before they are dropped, however recently they were used. Pages of shared
    /// memory are not on the lists of files.
    private static func droppable(_ statistics: [Substring: Int], _ version: ControlGroups.Version) -> Int {
        let prefix = version == .two ? "" : "total_"
        func sum(_ names: String...) -> Int { names.reduce(0) { $0 + (statistics[Substring(prefix + $1)] ?? 0) } }
        let written = version == .two ? sum("file_dirty", "file_writeback") : sum("dirty", "writeback")
        return max(sum("inactive_file", "active_file") - written, 0)
    }

    private mutating func takeEvents(_ version: ControlGroups.Version, isOwn: Bool, _ file: (String) -> String?) {
        switch version {
        case .two:
            // The other file has the events of all groups within, a neighbour's among them.
            let counts = Self.counts(file("memory.events.local") ?? (isOwn ? file("memory.events") : nil))
            events.reclaims += (counts["high"] ?? 0) + (counts["max"] ?? 0)
            events.failures += (counts["oom"] ?? 0) + (counts["oom_kill"] ?? 0)
        case .one:
            events.reclaims += file("memory.failcnt").flatMap(Self.number) ?? 0
            events.failures += Self.counts(file("memory.oom_control"))["oom_kill"] ?? 0
        }
    }

    /// Lines of a name and a number.
    private static func counts(_ text: String?) -> [Substring: Int] {
        var counts: [Substring: Int] = [:]
        for line in (text ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = Int(words[1]), value >= 0, value < 1 << 62 { counts[words[0]] = value }
        }
        return counts
    }

    private static func number(_ text: String) -> Int? {
        let digits = text.split { $0 == "\n" || $0 == " " }
        guard digits.count == 1, let value = Int(digits[0]), value >= 0 else { return nil }
        return value
    }
}

extension ByteCount {
    /// Suggests a byte limit for the machine. An eighth of the available memory, 16 to 512 MiB. In a control group or a
    /// container, of the least limit of it and the groups around it (versions 1 and 2).
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
