/// The last tiles whose state has changed, so that a plan looks up only these again.
struct StateChanges {
    /// Number of tiles that are kept. After more changes a plan looks up all of its candidates.
    static let capacity = 64

    private var keys: [TileKey] = []
    /// Number of changes.
    private var version = 0

    mutating func note(_ key: TileKey) {
        if keys.count < Self.capacity { keys.append(key) } else { keys[version % Self.capacity] = key }
        version += 1
    }

    /// The tiles that have changed since a version, and the present version. `nil` if there are too many.
    func take(since former: inout Int) -> [TileKey]? {
        defer { former = version }
        guard (0...version).contains(former), version - former <= Self.capacity else { return nil }
        return (former..<version).map { keys[$0 % Self.capacity] }
    }
}
