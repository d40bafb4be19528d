/// What requests to an origin usually cost, and whether an unwanted answer is cut off. Pure: times are parameters, in
/// milliseconds.
///
/// An answer is cut off only if what is left of it costs more than what the cut destroys:
/// - Without HTTP/2, the cut closes a connection. The next request needs another one, with its handshakes, while many
///   servers finish the answer all the same. So answers that take no longer than usual are let finish.
/// - With HTTP/2, the cut resets a stream. It destroys the bytes that have come; the time until the first one costs
///   nothing. But servers close connections with many resets (Node above 33 a second after the first 1000, Envoy if half of
///   500 streams are reset). The budget is one of an origin and a process: resets beyond ``resetsLeft`` count as
///   connections.
///
/// What an answer that finishes is kept for counts too: the cache takes the tile. Whether anything waits for the connection
/// does not count: the cache holds back requests of its own, of which the source knows nothing.
struct OriginHabits {
    /// What a whole answer has taken.
    struct Sample {
        /// From the address to the end of the last handshake; `nil` on a connection that was there.
        var handshake: Double?
        /// From the request to the first byte.
        var latency: Double
        /// From the first byte to the last one.
        var body: Double
        var bytes: Int
    }

    /// What is known of an answer under way.
    struct Answer {
        /// Time since its request was sent; before that, since the attempt began.
        var elapsed: Double
        var isSent = true
        var hasHeaders = false
        /// Bytes of the body that have come.
        var received = 0
        /// Bytes of the body, if the headers say so.
        var expected: Int?
        /// Whether the whole answer is kept, though it is unwanted.
        var isKept = true
    }

    /// Assumed time of handshakes and until a first byte before they are known.
    static let unknownTime = 250.0

    /// Whether the last answer came on HTTP/2: requests share a connection.
    private(set) var isMultiplexed = false
    /// Whether the last answer came on an older version; `false` before the first one.
    private(set) var isSerial = false
    private(set) var handshake: Double?
    private(set) var latency: Double?
    /// Mean difference from ``latency``.
    private var deviation = unknownTime / 2
    private var body = 0.0
    private var bytes = 0.0
    private var finished = 0
    private var resets = 0

    /// Resets of streams that servers bear: 64, and one for each eight finished answers.
    var resetsLeft: Int { 64 + finished / 8 - resets }

    init() {}

    mutating func note(isMultiplexed: Bool) { (self.isMultiplexed, isSerial) = (isMultiplexed, !isMultiplexed) }

    /// Notes that a request was cut off after it was sent.
    mutating func noteCut() { if isMultiplexed { resets += 1 } }

    /// Learns from a whole answer. Weights are those of round trips in TCP (RFC 6298, 2).
    mutating func note(_ sample: Sample) {
        finished += 1
        if let time = sample.handshake { handshake = handshake.map { $0 + (time - $0) / 8 } ?? time }
        if let latency {
            deviation += (abs(sample.latency - latency) - deviation) / 4
            self.latency = latency + (sample.latency - latency) / 8
        } else {
            (latency, deviation) = (sample.latency, sample.latency / 2)
        }
        // An answer without a body says nothing about the others.
        guard sample.bytes > 0 else { return }
        let weight = bytes > 0 ? 1 / 8.0 : 1
        body += (sample.body - body) * weight
        bytes += (Double(sample.bytes) - bytes) * weight
    }

    /// Time for which an unwanted answer may go on, as ``Answer/elapsed``; 0 if it is to be cut off now.
    func allowance(for answer: Answer) -> Double {
        let handshake = handshake ?? Self.unknownTime
        let received = Double(answer.received)
        let whole = max(answer.expected.map { Double($0) } ?? bytes, received)
        let wait = (latency ?? Self.unknownTime) + (answer.isSent ? 0 : handshake)
        let isStream = isMultiplexed && answer.isSent && resetsLeft > 0
        // On a connection of its own, an answer that has not begun will take no longer than others.
        let left = isStream || answer.hasHeaders ? time(of: whole - received) : 0
        let destroyed = (answer.isKept ? time(of: received) : 0) + (isStream ? 0 : max(handshake, wait + body))
        guard left <= destroyed else { return 0 }
        // One that is late may be late for as long again as it is worth.
        return wait + 4 * deviation + time(of: whole) + destroyed
    }

    private func time(of count: Double) -> Double { bytes > 0 ? body * count / bytes : 0 }
}
