import TileCache

/// Leased tiles of a thread, with their pixels' digests.
struct StressHolds {
    /// The leases of all threads must leave room for the needs of views.
    private static let most = 6

    private var held: [(tile: LeasedTile, digest: UInt64)] = []
    let findings: StressFindings

    init(findings: StressFindings) { self.findings = findings }

    var count: Int { held.count }
    /// Leased tiles; two leases of one tile are one.
    var identities: [TileIdentity] { held.map(\.tile.identity) }

    mutating func take(_ tile: LeasedTile) {
        if held.count >= Self.most { release(0) }
        let tile = tile.retained()
        held.append((tile, tile.withUnsafeBytes(StressTile.digest)))
    }

    func check(_ number: Int) {
        guard !held.isEmpty else { return }
        let (tile, digest) = held[number % held.count]
        guard tile.withUnsafeBytes(StressTile.digest) != digest else { return }
        let now =
            "now \(String(tile.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }, radix: 16)) at its beginning"
        findings.note(
            .lease,
            "tile \(tile.identity.tile) of layer \(tile.identity.layer.serial) changed while it was held, \(now)"
        )
    }

    mutating func release(_ number: Int) {
        guard !held.isEmpty else { return }
        check(number)
        held.remove(at: number % held.count)
    }

    func checkAll() {
        for number in held.indices { check(number) }
    }
}
