import TileCache

/// How one attempt to fetch a tile ended.
enum FetchEnd: Equatable {
    /// The tile's bytes have arrived.
    case delivered
    /// The kept answer is still valid.
    case notModified
    case absent
    /// The tile is at another address.
    case redirected(to: String)
    case failed(TileLoadFailureCause, message: String, mayPass: Bool, retryAfterSeconds: Int = 0)
    /// The server may not be asked for so long, since it has refused requests or cannot be reached. Nothing was sent, or
    /// what was sent was refused.
    case postponed(milliseconds: Int64)
}

/// Whether and when a failed request is retried. Pure, so that it can be tested without a clock.
struct RetryRule {
    let retries: Int
    let backOff: Int

    /// Maximum number of redirections in one attempt.
    static let redirections = 5

    /// Determines the result of a redirection; a refused one fails permanently.
    ///
    /// - Parameter number: Redirections of the attempt, this one included.
    static func end(redirectedTo address: String, number: Int) -> FetchEnd {
        func refused(_ message: String) -> FetchEnd { .failed(.status, message: message, mayPass: false) }
        guard number <= redirections else { return refused("more than \(redirections) redirections") }
        guard HTTPAddress(address) != nil else {
            return refused(
                "a redirection to an address of http or https was expected, not to "
                    + address.withoutPasswords.prefix(200)
            )
        }
        return .redirected(to: address)
    }

    /// Maximum wait, in milliseconds.
    static let longest = 30_000

    /// Longest `Retry-After` in seconds that is waited for while a source is opened: nothing can end that wait.
    static let longestOpening = 5

    /// Whether a whole body is what was asked for. 203 is what a proxy makes of 200 if it has changed the body (RFC 9110,
    /// 15.3.4).
    static func isDelivery(_ status: Int) -> Bool { status == 200 || status == 203 }

    /// Determines the result of a status.
    static func end(status: Int, absentStatuses: Set<Int>, retryAfterSeconds: Int) -> FetchEnd {
        switch status {
        case _ where absentStatuses.contains(status): .absent
        case _ where isDelivery(status): .delivered
        case 304: .notModified
        default:
            .failed(
                .status,
                message: "the server answered with the status \(status)"
                    + (retryAfterSeconds > longestOpening ? "; it asks to wait for \(retryAfterSeconds) s" : ""),
                mayPass: [408, 425, 429].contains(status) || status >= 500,
                retryAfterSeconds: retryAfterSeconds
            )
        }
    }

    /// Milliseconds to wait before the next attempt; `nil` if there is to be none.
    ///
    /// - Parameters:
    ///   - attempts: Attempts so far, 1 or more.
    ///   - isOpening: Whether a thread waits for the end.
    ///   - dice: A number from 0 to 1.
    func wait(after end: FetchEnd, attempts: Int, isOpening: Bool = false, dice: Double) -> Int? {
        guard case .failed(_, _, mayPass: true, let retryAfterSeconds) = end, attempts <= retries,
            !isOpening || retryAfterSeconds <= Self.longestOpening
        else { return nil }
        let full = min(attempts > 16 ? Self.longest : backOff << (attempts - 1), Self.longest)
        let wait = full - Int(Double(full) / 2 * dice)
        return min(max(wait, min(retryAfterSeconds, Self.longest / 1000) * 1000), Self.longest)
    }

    /// What a postponed request says where a failure is expected.
    static let pause = "its server has refused requests or cannot be reached, and is asked later"

    /// Tells the cache what the last attempt's failure means.
    static func failure(_ cause: TileLoadFailureCause, mayPass: Bool, retryAfterSeconds: Int) -> TileFailure {
        guard mayPass || cause == .noRoom else { return .permanent }
        return .transient(retryAfter: .seconds(min(max(retryAfterSeconds, 1), longest / 1000)))
    }
}
