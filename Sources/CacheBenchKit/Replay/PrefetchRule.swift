public import TileCache

/// A prefetch policy by its name, for programs that show policies side by side.
public struct PrefetchRule: Hashable, Sendable {
    private let kind: PrefetchKind

    /// Names of all rules: those of `cachebench compare --policies` without the oracle.
    public static let names = PrefetchKind.allCases.filter { $0 != .oracle }.map(\.rawValue)

    /// Name of the rule, such as `skewport`.
    public var name: String { kind.rawValue }

    /// Finds a rule; `nil` if ``names`` lacks it.
    public init?(_ name: String) {
        guard let kind = PrefetchKind(rawValue: name), kind != .oracle else { return nil }
        self.kind = kind
    }

    /// Sets the eviction order of the rule. LRU, or the library's own for its own rule.
    public func configure(_ configuration: inout TileCache.Configuration) {
        configuration.usesValues = kind.usualEviction != .lru
    }

    /// Creates a view that prefetches by the rule.
    public func makeView(of layers: [TileLayer], in cache: TileCache) -> TileView {
        var options = ReplayOptions()
        options.prefetch = kind
        guard kind != .tilecache, let policy = try? options.policy() else { return cache.makeView(layers: layers) }
        return cache.makeView(layers: layers, selection: TileLevelSelection()) { policy }
    }
}
