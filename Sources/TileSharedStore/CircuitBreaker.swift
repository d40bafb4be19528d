/// Decides whether a server is used, by its last answers.
///
/// It opens after three failures in a row, or after more with as many successes between them. An open one admits
/// nothing for a second, then twice as long after each further failure, at most 30 s. Then it admits one operation, whose
/// success closes it. See M. Nygard, "Release It!", 2007.
struct CircuitBreaker: Hashable, Sendable {
    /// A failure adds two points, a success takes one; at so many it opens.
    private static let limit = 6
    static let shortest: Int64 = 1_000_000_000
    static let longest: Int64 = 30_000_000_000

    private var points = 0
    private var until: Int64 = 0
    private var length: Int64 = 0
    private var isProbing = false

    /// State at a time in nanoseconds.
    func state(at now: Int64) -> SharedServerState {
        guard length > 0 else { return .closed }
        return isProbing || now >= until ? .halfOpen : .open
    }

    /// Whether an operation may be sent now. If an open breaker admits one, its end must be noted.
    mutating func admits(at now: Int64) -> Bool {
        guard length > 0 else { return true }
        guard !isProbing, now >= until else { return false }
        isProbing = true
        return true
    }

    /// Notes the end of an operation.
    mutating func note(isFailure: Bool, at now: Int64) {
        isProbing = false
        guard isFailure else {
            points = length == 0 ? max(points - 1, 0) : 0
            (until, length) = (0, 0)
            return
        }
        points = min(points + 2, Self.limit)
        guard points == Self.limit else { return }
        // Operations that were on their way when it opened do not prolong it.
        guard length == 0 || now >= until else { return }
        length = length == 0 ? Self.shortest : min(2 * length, Self.longest)
        until = now + length
    }
}

/// Whether a server of a shared store is used.
public enum SharedServerState: String, Hashable, Sendable {
    /// It is used.
    case closed
    /// It failed and is not used for a while: its entries are misses at once.
    case open
    /// The pause is over: the next operation decides.
    case halfOpen
}
