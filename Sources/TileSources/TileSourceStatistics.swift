public import TileCache

/// Cause of a failed delivery.
public enum TileLoadFailureCause: String, CaseIterable, Hashable, Sendable {
    /// The file or database could not be read.
    case unreadable
    /// The bytes are not an image that can be decoded.
    case undecodable
    /// The image or the answer is truncated.
    case truncated
    /// The image has another size than the tile.
    case wrongSize
    /// The tile exceeds the maximum size.
    case tooLarge
    /// The server or the database timed out.
    case timeOut
    /// The connection failed or broke.
    case connection
    /// The server returned a status that means neither a tile nor its absence.
    case status
    /// The cache had no room for the encoded bytes.
    case noRoom
    /// The server does not answer with the bytes of the file that were asked for.
    case range
    /// The file has changed since it was opened.
    case changed
}

/// Counts of a source.
public struct TileSourceStatistics: Hashable, Sendable, CustomStringConvertible {
    /// Requests of tiles. A tile that has failed or was put off is requested again, and counts again.
    public var loads = 0
    /// Requested tiles that do not exist.
    public var absent = 0
    /// Tiles decoded. A tile that the cache decodes again counts again.
    public var decoded = 0
    /// Decoded tiles whose image had another size than the set's tiles, and was scaled.
    public var scaled = 0
    /// Failures by cause. For an HTTP source, each failed attempt counts, even if a later one succeeded.
    public var failures: [TileLoadFailureCause: Int] = [:]
    /// Description of the last failure: the tile, and what was expected. Without users and passwords.
    public var lastFailure: String?
    /// Reason why nothing is shown, once two seconds have passed since the first request and no tile has come: what became
    /// of those that were requested. Otherwise `nil`.
    public var silence: String?
    /// HTTP requests sent, including retries.
    public var attempts = 0
    /// HTTP requests that were retries.
    public var retries = 0
    /// Loads that were put off, because their server had refused requests (429, 503) or could not be reached. Some of them
    /// had sent a request, which counts as a failure too.
    public var postponed = 0
    /// Answers that the kept answer is still valid (304).
    public var notModified = 0
    /// Requests cancelled because the tile was no longer wanted.
    public var cancelled = 0
    /// Connections opened for HTTP, or tried. Those that are used again do not count again.
    public var connections = 0
    /// HTTP requests that were sent as streams of HTTP/2.
    public var streams = 0
    /// HTTP requests cut off after they were sent, since their tiles were no longer wanted. Each has closed its connection, or
    /// reset its stream of HTTP/2.
    public var cutOff = 0
    /// Bytes of answers that came and were thrown away, since their tiles were no longer wanted.
    public var cancelledBytes = ByteCount.bytes(0)
    /// Memory of an archive's directories at present. It counts against the cache's limit.
    public var directoryMemory = ByteCount.bytes(0)

    /// Creates statistics with all counts 0.
    public init() {}

    /// Failures of all causes.
    public var failureCount: Int { failures.values.reduce(0, +) }

    /// One line for a log.
    public var description: String {
        var parts = ["\(loads) tiles asked for"]
        if failureCount > 0 {
            let causes = failures.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
            let list = causes.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
            parts.append("\(failureCount) failures (\(list))")
        }
        let counts = [
            (absent, "absent"), (scaled, "scaled"), (attempts, "requests sent"), (retries, "of them again"),
            (postponed, "put off"),
            (notModified, "not modified"),
            (cancelled, "cancelled"), (cutOff, "cut off"), (connections, "connections"), (streams, "streams"),
        ]
        parts += counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let reason = silence.map { "; \($0)" } ?? lastFailure.map { "; last failure: \($0)" }
        return parts.joined(separator: ", ") + (reason ?? "")
    }
}

/// Counts from any thread.
final class SourceCounter: Sendable {
    private struct Counts {
        var statistics = TileSourceStatistics()
        /// Nanoseconds at which the first tile was requested.
        var begin: Int64?
        /// A requested tile that does not exist.
        var lastAbsent: String?
        /// Side of the last image that was scaled.
        var scaledSide: Int?
    }

    /// Nanoseconds without any tile after which there is a reason to give.
    static let patience: Int64 = 2_000_000_000

    private let counts = Lock(Counts())
    private let now: @Sendable () -> Int64

    /// - Parameter now: A monotonic clock, in nanoseconds.
    init(now: @escaping @Sendable () -> Int64 = { MonotonicTime.now.nanoseconds }) { self.now = now }

    /// A copy with its own table. The next failure would copy a shared one under the lock, and ThreadSanitizer cannot
    /// see how Swift detects that the reader has released it.
    var statistics: TileSourceStatistics {
        let now = now()
        return counts.withLock { counts in
            var copy = counts.statistics
            copy.failures = Dictionary(uniqueKeysWithValues: copy.failures.map { ($0.key, $0.value) })
            if copy.decoded == 0, let begin = counts.begin, now - begin >= Self.patience {
                copy.silence = copy.silence(for: now - begin, lastAbsent: counts.lastAbsent)
            }
            return copy
        }
    }

    /// Side of the images if most tiles are scaled; `nil` otherwise.
    var usualScaledSide: Int? {
        counts.withLock { counts in
            2 * counts.statistics.scaled > counts.statistics.decoded ? counts.scaledSide : nil
        }
    }

    /// A source's own warning, and that no tile comes.
    func warning(_ own: String?, of name: String) -> String? {
        let parts = [own, statistics.silence.map { "\(name): \($0)" }].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    func count(_ change: (inout TileSourceStatistics) -> Void) { counts.withLock { change(&$0.statistics) } }

    func countLoad() {
        let now = now()
        counts.withLock {
            $0.statistics.loads += 1
            if $0.begin == nil { $0.begin = now }
        }
    }

    func countAbsent(_ subject: String) {
        counts.withLock {
            $0.statistics.absent += 1
            if $0.statistics.decoded == 0 { $0.lastAbsent = subject.withoutPasswords }
        }
    }

    /// - Parameter side: Of the image, if it was scaled.
    func countDecoded(scaledFrom side: Int?) {
        counts.withLock {
            $0.statistics.decoded += 1
            guard let side else { return }
            $0.statistics.scaled += 1
            $0.scaledSide = side
        }
    }

    func count(_ failure: TileLoadFailure, of subject: String) {
        counts.withLock {
            $0.statistics.failures[failure.cause, default: 0] += 1
            $0.statistics.lastFailure = "\(subject): \(failure.message)".withoutPasswords
        }
    }
}

extension TileSourceStatistics {
    /// Adds the requests and failures of a second file of the same source.
    mutating func addRequests(of other: TileSourceStatistics) {
        failures.merge(other.failures, uniquingKeysWith: +)
        lastFailure = lastFailure ?? other.lastFailure
        for count in [\TileSourceStatistics.attempts, \.retries, \.postponed, \.connections, \.streams, \.cutOff] {
            self[keyPath: count] += other[keyPath: count]
        }
        cancelledBytes = .bytes(cancelledBytes.bytes + other.cancelledBytes.bytes)
    }

    /// Text of ``silence``.
    fileprivate func silence(for nanoseconds: Int64, lastAbsent: String?) -> String? {
        // Tiles that are no longer wanted, or that a store has, are no reason.
        guard loads > cancelled, notModified == 0 else { return nil }
        let none = "none of \(loads) \(loads == 1 ? "request" : "requests") has brought a tile"
        if let lastFailure { return "\(none); last failure: \(lastFailure)" }
        if absent > 0 {
            return "\(none), \(absent) \(absent == 1 ? "was" : "were") of tiles that do not exist"
                + (lastAbsent.map { "; the last one is \($0)" } ?? "")
        }
        return "\(none) in \(nanoseconds / 1_000_000_000) s, and nothing has failed yet"
    }
}

/// One tile that could not be delivered.
struct TileLoadFailure: Error {
    var cause: TileLoadFailureCause
    var message: String

    init(_ cause: TileLoadFailureCause, _ message: String) {
        self.cause = cause
        self.message = message
    }

    static func noMemory(_ bytes: Int) -> TileLoadFailure {
        TileLoadFailure(.unreadable, "there is no memory for \(bytes) bytes of a tile")
    }

    /// Whether the same tile may come later: the cause lies in the machine, not in the file.
    var mayPass: Bool { [.unreadable, .timeOut, .noRoom].contains(cause) }
    /// What it tells the cache, whose own back-off is long enough.
    var failure: TileFailure { mayPass ? .transient(retryAfter: .zero) : .permanent }
}
