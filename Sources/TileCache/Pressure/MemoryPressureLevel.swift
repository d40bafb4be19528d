/// Level of memory pressure.
public enum MemoryPressureLevel: Int, Sendable, Hashable, Comparable {
    /// No pressure.
    case normal
    /// Release memory that is cheap to release.
    case warning
    /// Processes may soon be killed.
    case critical

    /// Orders by urgency.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
