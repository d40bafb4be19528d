/// What Linux says of memory in its text files. Pure: it is given their contents.
struct MemoryReadings: Sendable, Hashable {
    /// Bytes that the group of processes may use, the least of its own limits and those of the groups around it; `nil`
    /// where there is none.
    var limit: Int?
    /// Bytes that it uses, file contents that the system drops when it needs memory left out.
    var used: Int?
    /// The share of the last ten seconds, in percent, in which some process waited for memory, and in which all did.
    var some = 0.0
    var all = 0.0

    /// Of the limit, from where on memory is short, and all but gone. Chosen so that a cache gives way before the system
    /// begins to kill, which it does at the limit.
    static let warningUse = 0.85
    static let criticalUse = 0.95
    /// Percent of time that processes wait for memory: from the first a person sees stutter, with the second little
    /// else is done.
    static let warningStall = 10.0
    static let criticalStall = 10.0

    /// How short of memory the system is.
    var level: MemoryPressureMonitor.Level {
        var use = 0.0
        if let limit, let used, limit > 0 { use = Double(used) / Double(limit) }
        if use >= Self.criticalUse || all >= Self.criticalStall { return .critical }
        return use >= Self.warningUse || some >= Self.warningStall ? .warning : .normal
    }

    /// Takes in a pressure file (`/proc/pressure/memory` or a group's `memory.pressure`):
    /// `some avg10=0.12 avg60=0.00 avg300=0.00 total=123`. What cannot be read says nothing.
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

    /// Takes in a limit (`memory.max`, `memory.high`): a number of bytes, or `max`.
    mutating func takeLimit(_ text: String) {
        guard let bytes = Self.number(text) else { return }
        limit = min(limit ?? .max, bytes)
    }

    /// Takes in what is used (`memory.current`), and what of it can be dropped (`memory.stat`).
    mutating func takeUse(current: String, statistics: String) {
        guard let bytes = Self.number(current) else { return }
        var reclaimable = 0
        for line in statistics.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == "inactive_file" { reclaimable = Int(words[1]) ?? 0 }
        }
        used = max(bytes - max(reclaimable, 0), 0)
    }

    /// The folders of a process's group and of those around it, innermost first, from `/proc/self/cgroup`: the line
    /// `0::/some/path` of version 2. Empty where there is none.
    static func groupFolders(_ text: String) -> [String] {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return [] }
        var parts = line.dropFirst("0::".count).split(separator: "/")
        // A group outside of what the process can see.
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
    /// A limit for a cache that nobody has chosen one for: an eighth of the memory that the process may use, 16 to 512
    /// MiB. Where a container allows less than the machine has, the container's limit counts.
    public static var automatic: ByteCount {
        automatic(physical: SystemMemory.physicalBytes, container: SystemMemory.readings().limit)
    }

    static func automatic(physical: Int, container: Int?) -> ByteCount {
        let available = max(min(physical, container ?? .max), 0)
        // Never more than a half, however little there is.
        let least = min(16 << 20, available / 2)
        return .bytes(max(min(max(available / 8, least), 512 << 20), 1))
    }
}
