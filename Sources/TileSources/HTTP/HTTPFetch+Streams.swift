import CTileCurl
import TileCache

/// What a fetch shares with others: its connection, and the patience of those who want something else.
extension HTTPFetch {
    /// Urgency of the request, from 0 to 7; servers take 3 of one that says nothing (RFC 9218, 4.1). Without `i`: of tiles of
    /// the same urgency, one is of use as a whole before parts of all (4.2). Nothing is sent if the job becomes needed later,
    /// since libcurl sends no `PRIORITY_UPDATE`.
    var priority: String { job.isDemand ? "Priority: u=1" : "Priority: u=5" }

    /// Whether the transfer shares its connection with others.
    var isStream: Bool { origin.habits.isMultiplexed && transfer.map { tile_curl_has_sent($0) != 0 } ?? false }

    func isLateStream(_ now: Int64) -> Bool { now >= deadline && isStream }

    /// Milliseconds until an unwanted answer is cut off; 0 or less if it is to be cut off now.
    func allowance(now: Int64) -> Int64 {
        guard let transfer else { return 0 }
        let sent = tile_curl_used(transfer).sent
        let elapsed = Double(now - begun) - sent
        let allowance = origin.habits.allowance(
            for: OriginHabits.Answer(
                elapsed: elapsed,
                isSent: tile_curl_has_sent(transfer) != 0,
                hasHeaders: hasHeaders,
                received: body.count,
                expected: answer.contentLength,
                isKept: job.isKeptUnwanted
            )
        )
        return Int64((allowance - elapsed).rounded(.up))
    }
}
