/// Leases some tiles until it is released.
final class LeaseHold: Sendable {
    private let core: CacheCore
    private let tokens: [LeaseToken]

    /// Takes over leases that the pool has counted.
    init(core: CacheCore, tokens: [LeaseToken]) {
        self.core = core
        self.tokens = tokens
    }

    deinit { core.release(tokens) }

    /// Leases one of the tiles alone.
    func alone(_ token: LeaseToken) -> LeaseHold {
        core.retain(token)
        return LeaseHold(core: core, tokens: [token])
    }
}
