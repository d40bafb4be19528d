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
    /// Tiles requested.
    public var loads = 0
    /// Requested tiles that do not exist.
    public var absent = 0
    /// Failures by cause. For an HTTP source, each failed attempt counts, even if a later one succeeded.
    public var failures: [TileLoadFailureCause: Int] = [:]
    /// Description of the last failure: the tile, and what was expected. Without users and passwords.
    public var lastFailure: String?
    /// HTTP requests sent, including retries.
    public var attempts = 0
    /// HTTP requests that were retries.
    public var retries = 0
    /// Answers that the kept answer is still valid (304).
    public var notModified = 0
    /// Requests cancelled because the tile was no longer wanted.
    public var cancelled = 0
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
            (absent, "absent"), (attempts, "requests sent"), (retries, "of them again"), (notModified, "not modified"),
            (cancelled, "cancelled"),
        ]
        parts += counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return parts.joined(separator: ", ") + (lastFailure.map { "; last failure: \($0)" } ?? "")
    }
}

/// Counts from any thread.
final class SourceCounter: Sendable {
    private let counts = Lock(TileSourceStatistics())

    /// A copy with its own table. The next failure would copy a shared one under the lock, and ThreadSanitizer cannot
    /// see how Swift detects that the reader has released it.
    var statistics: TileSourceStatistics {
        counts.withLock { counts in
            var copy = counts
            copy.failures = Dictionary(uniqueKeysWithValues: counts.failures.map { ($0.key, $0.value) })
            return copy
        }
    }

    func count(_ change: (inout TileSourceStatistics) -> Void) { counts.withLock { change(&$0) } }

    func count(_ failure: TileLoadFailure, of subject: String) {
        counts.withLock {
            $0.failures[failure.cause, default: 0] += 1
            $0.lastFailure = "\(subject): \(failure.message)".withoutPasswords
        }
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
}
