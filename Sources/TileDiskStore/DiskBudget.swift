/// How a byte limit is divided between the database and its rollback journal.
///
/// The journal has the former contents of the pages that a transaction changes. No operation changes more than
/// ``operationBytes`` of them, so a transaction that ends while that much room is left never exceeds ``journalBytes``.
struct DiskBudget: Equatable {
    static let pageBytes = 16_384
    /// The smallest limit: below it hardly anything is left beside the journal.
    static let smallestLimit = 4 << 20
    /// SQLite's number of pages has 32 bits.
    static let largestLimit = 1 << 45
    /// Kept free for the folder and for the rounding of files to blocks.
    private static let slackBytes = 16_384
    /// A page in the journal has its number and a checksum.
    private static let journalPageBytes = pageBytes + 8
    /// Pages that one operation changes at most.
    ///
    /// Those of two trees of 4 levels (at each, 3 siblings and 2 new pages), of the list of free pages, of the counters,
    /// and the database's header.
    private static let operationPages = 48
    /// A page of the pointer map describes this many.
    private static let mappedPages = pageBytes / 5

    /// Bytes of all files.
    let limit: Int
    /// Pages of the database.
    let maximumPages: Int
    /// Largest size of the journal.
    let journalBytes: Int
    /// Bytes by which one operation extends the journal at most.
    let operationBytes: Int

    /// Divides a limit, which is clamped to the supported range.
    init(limit: Int) {
        self.limit = min(max(limit, Self.smallestLimit), Self.largestLimit)
        let mapPages = self.limit / Self.pageBytes / Self.mappedPages + 1
        // Headers of the journal, one a sector.
        operationBytes = (Self.operationPages + mapPages) * Self.journalPageBytes + 8192
        journalBytes = max(min(self.limit / 16, 2 << 20), 1 << 20, operationBytes + operationBytes / 4)
        maximumPages = (self.limit - journalBytes - Self.slackBytes) / Self.pageBytes
    }

    /// The smallest budget with room for a database that exists.
    init(pages: Int) {
        var limit = pages * Self.pageBytes
        var budget = DiskBudget(limit: limit)
        while budget.maximumPages < pages, limit < Self.largestLimit {
            limit += budget.journalBytes
            budget = DiskBudget(limit: limit)
        }
        self = budget
    }

    /// Largest payload that is accepted: an eighth of the limit.
    var largestPayload: Int { limit / 8 }
}
