import Synchronization
import TileCache

/// Why a tile could not be delivered.
public enum TileLoadFailureCause: String, CaseIterable, Hashable, Sendable {
    /// The file or database could not be read.
    case unreadable
    /// The bytes are no image that can be decoded.
    case undecodable
    /// The image or the answer ends too early.
    case truncated
    /// The image has another size than the tile.
    case wrongSize
    /// There are more bytes than a tile may have.
    case tooLarge
    /// The server or the database took longer than it may.
    case timeOut
    /// There was no connection, or it broke.
    case connection
    /// The server answered with a status that is neither a tile nor the word that there is none.
    case status
    /// The cache had no room for the encoded bytes.
    case noRoom
}

/// What a source has done so far.
public struct TileSourceStatistics: Hashable, Sendable, CustomStringConvertible {
    /// Tiles that it was asked for.
    public var loads = 0
    /// Of those, the ones that do not exist.
    public var absent = 0
    /// Failures by cause. Of an HTTP source each failed attempt counts, also where a later one succeeded.
    public var failures: [TileLoadFailureCause: Int] = [:]
    /// What was wrong the last time: which tile, and what was expected.
    public var lastFailure: String?
    /// HTTP requests sent, those that were sent again included.
    public var attempts = 0
    /// Of those, the ones that were sent again.
    public var retries = 0
    /// Answers that what was kept is still good (304).
    public var notModified = 0
    /// Requests given up because nobody wanted the tile any more.
    public var cancelled = 0

    /// Makes statistics of nothing.
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

    /// With a table of its own: one that is shared with a reader makes the next failure copy it under the lock, and
    /// ThreadSanitizer does not see how Swift tells that the reader has let it go.
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
            $0.lastFailure = "\(subject): \(failure.message)"
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
