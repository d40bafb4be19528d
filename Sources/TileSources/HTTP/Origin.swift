import TileCache

/// A server: a scheme, host and port. All sources of the process that ask it share its pace and its habits.
final class Origin: Sendable {
    private let pace = Lock(OriginPace())
    private let known = Lock(OriginHabits())

    private static let all = Lock<[[String]: Origin]>([:])
    /// Number of known origins from which on those that hold nothing back are forgotten.
    private static let most = 1024

    /// The origin of an address; one of its own if the address is invalid.
    static func of(_ address: String) -> Origin {
        guard let key = HTTPAddress(address)?.origin else { return Origin() }
        return all.withLock { all in
            if let known = all[key] { return known }
            if all.count >= most { all = all.filter { $0.value.pace.withLock { $0.holdsBack } } }
            if all.count >= most { all = [:] }
            let origin = Origin()
            all[key] = origin
            return origin
        }
    }

    var habits: OriginHabits { known.withLock { $0 } }

    func learn(_ change: (inout OriginHabits) -> Void) { known.withLock { change(&$0) } }

    func earliest(now: Int64, isDemand: Bool) -> Int64 {
        pace.withLock { $0.earliest(now: now, isDemand: isDemand) }
    }

    func begin(now: Int64) -> OriginPace.Permit { pace.withLock { $0.begin(now: now) } }

    func end(_ permit: OriginPace.Permit, _ verdict: OriginPace.Verdict, now: Int64, first: Int64) {
        let dice = Double.random(in: 0...1)
        pace.withLock { $0.end(permit, verdict, now: now, first: first, dice: dice) }
    }
}
