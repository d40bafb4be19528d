/// How often an origin may be asked after it has refused requests or could not be reached. Pure: times are parameters,
/// in milliseconds.
///
/// Nothing is held back until then. A refusal closes the origin for as long as it asks for, or for a pause that doubles.
/// Then one request decides. If it is answered after a refusal, later ones are spaced. With fewer than eight answers so far
/// the rate is unknown: it begins at two a second, or at that of these answers if that is higher, and doubles with each
/// further answer. From eight answers on it is nine tenths of the rate of the answers until the refusal, and 4 % more with
/// each further answer from the ninth on. After a while without requests some may come at once: half as many as were
/// answered before the first refusal, halved with each later refusal. Without a further refusal the origin is forgotten
/// after ``memory``, or after twenty intervals if that is longer.
struct OriginPace {
    /// What the end of a request says about the origin.
    enum Verdict: Equatable {
        /// It answers.
        case answered
        /// It refuses requests: too many come, or it is overloaded. It may ask for a pause.
        case refused(pause: Int64)
        /// There is no connection to it.
        case unreachable
        /// Nothing: the request was cancelled or broke.
        case unknown
    }

    /// Permission for one request, to be returned with its end.
    struct Permit {
        fileprivate var serial = 0
        fileprivate var decides = false
    }

    /// Maximum pause between two requests of a closed origin that asks for none.
    static let longestPause: Int64 = 30_000
    /// Maximum pause that an origin can ask for.
    static let longestRequested: Int64 = 60_000
    /// Time after the last refusal for which requests are spaced.
    static let memory: Int64 = 120_000
    /// Pause of all others while one request decides. Its answer may come sooner.
    static let decision: Int64 = 500
    /// Answers that tell the rate.
    private static let enough = 8
    /// First time between two requests while the rate is unknown.
    private static let unknownInterval = 500.0
    /// Time without a request after which the rate is measured anew.
    private static let idle: Int64 = 10_000

    /// Whether requests are held back.
    var holdsBack: Bool { closed != nil || isSpaced }
    /// Whether requests are spaced.
    private(set) var isSpaced = false
    /// Time between two requests.
    private(set) var interval = 0.0
    /// Whether the answers have told the rate.
    private var isMeasured = false
    /// Earliest next request, if it is closed or spaced.
    private var next = 0.0
    /// Requests that may be made up for at once after a while without any.
    private var credit = 0
    /// Time of the refusal that has closed it; `nil` if it is open.
    private var closed: Int64?
    private var isDeciding = false
    /// Number of refusals that counted. Requests from before the last one do not count again.
    private var serial = 0
    private var lastRefusal: Int64 = 0
    private var lastRequest: Int64?
    /// Answers since a time.
    private var answers = 0
    private var since: Int64 = 0

    /// Whether the last refusal no longer counts.
    private func isForgotten(_ now: Int64) -> Bool {
        Double(now - lastRefusal) > max(Double(Self.memory), 20 * interval)
    }

    /// Earliest time of a request; `now` or earlier if it may be sent.
    ///
    /// - Parameter isDemand: Whether a view needs it. Others wait for four more turns.
    func earliest(now: Int64, isDemand: Bool) -> Int64 {
        if isDeciding { return now + Self.decision }
        guard closed != nil || (isSpaced && !isForgotten(now)) else { return now }
        let turn = Int64(next.rounded(.up))
        return turn <= now || isDemand ? turn : turn + Int64(4 * interval)
    }

    /// Begins a request.
    mutating func begin(now: Int64) -> Permit {
        if closed == nil, isSpaced, isForgotten(now) { self = Self(serial: serial) }
        let idle = max(Double(Self.idle), 4 * interval)
        if closed == nil, lastRequest.map({ Double(now - $0) > idle }) ?? true { (since, answers) = (now, 0) }
        lastRequest = now
        if closed != nil {
            isDeciding = true
        } else if isSpaced {
            next = max(next, Double(now) - Double(credit) * interval) + interval
        }
        return Permit(serial: serial, decides: closed != nil)
    }

    /// Ends a request.
    ///
    /// - Parameters:
    ///   - first: First pause after a refusal.
    ///   - dice: A number from 0 to 1: by up to a tenth, pauses are longer, so that clients do not return together.
    mutating func end(_ permit: Permit, _ verdict: Verdict, now: Int64, first: Int64, dice: Double) {
        let isCurrent = permit.serial == serial
        if isCurrent, permit.decides { isDeciding = false }
        switch verdict {
        case .unknown: if isCurrent, permit.decides { next = Double(now) }
        case .answered:
            answers += 1
            guard isCurrent else { return }
            if let closed { open(closed, now: now) }
            grow(now: now)
        case .refused(let pause):
            close(isCurrent, now: now, first: first, dice: dice, asked: min(pause, Self.longestRequested)) {
                if !$0.isSpaced { $0.credit = $0.answers / 2 } else if $0.closed == nil { $0.credit /= 2 }
                $0.isSpaced = true
            }
        case .unreachable: close(isCurrent, now: now, first: first, dice: dice, asked: 0) { _ in }
        }
    }

    private mutating func close(
        _ isCurrent: Bool,
        now: Int64,
        first: Int64,
        dice: Double,
        asked: Int64,
        _ learn: (inout Self) -> Void
    ) {
        lastRefusal = now
        guard isCurrent else {
            // It was sent before the refusal that has closed the origin.
            if closed != nil { next = max(next, Double(now + asked)) }
            return
        }
        serial += 1
        learn(&self)
        let least = Double(max(first, 1))
        let pause = closed.map { Double(now - $0) } ?? 2 * interval
        closed = closed ?? now
        let wait = max(min(max(pause, least), Double(Self.longestPause)), Double(asked))
        next = Double(now) + wait * (1 + dice / 10)
    }

    /// Opens it. If it has refused requests, its rate is measured.
    private mutating func open(_ closed: Int64, now: Int64) {
        self.closed = nil
        guard isSpaced else { return }
        let before = answers - 1
        let measured = Double(max(now - since, 1)) / Double(max(before, 1)) / 0.9
        if before >= Self.enough {
            // The rate doubles at most.
            interval = min(max(measured, interval / 2, 1), Double(Self.longestPause))
            (isMeasured, since, answers) = (true, closed, 1)
        } else {
            // Too few answers for another rate than before: it is a little less.
            interval = isMeasured ? min(interval * 1.2, Double(Self.longestPause)) : min(measured, Self.unknownInterval)
        }
        next = Double(now) + interval
    }

    private mutating func grow(now: Int64) {
        if isSpaced, !isMeasured { interval /= 2 }
        if isSpaced, isMeasured, answers > Self.enough { interval = max(interval / 1.04, 1) }
        // What was long ago says nothing about the present rate.
        guard !isSpaced, now - since > 60_000 else { return }
        (since, answers) = (now - 30_000, answers / 2)
    }

    init() {}

    private init(serial: Int) { self.serial = serial }
}
