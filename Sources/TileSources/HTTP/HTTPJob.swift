import TileCache

/// What is known of an answer that is no redirection.
struct HTTPAnswerHead {
    var status: Int
    var headers: HTTPCacheHeaders
    var retryAfterSeconds = 0
    /// Bytes of the body so far.
    var bodyCount = 0
    /// Whether the body has ended before its end.
    var isCutOff = false
}

/// What an ``HTTPEngine`` fetches; it receives how that ended.
///
/// Its last call is ``finish(_:_:_:)`` or ``cancel()``, on the engine's thread, or in the call that adds it to a stopped
/// engine.
protocol HTTPJob: AnyObject, Sendable {
    var address: String { get }
    /// Address whose origin (scheme, host and port) gets the options' headers. Default: the job's own.
    ///
    /// User and password of this address are used.
    var home: String { get }
    /// Name of what is fetched, for messages.
    var name: String { get }
    /// Whether a view needs it now.
    var isDemand: Bool { get }
    /// Whether a thread that opens a source waits for the end. Default: `false`.
    var isOpening: Bool { get }
    /// Maximum bytes of the answer.
    var limit: Int { get }
    /// Header lines besides those of the options.
    var lines: [String] { get }
    /// Answer of an earlier fetch, for a conditional request. Default: none.
    var kept: KeptAnswer? { get }
    /// Validators of a stored tile, for a conditional request. Default: none.
    var stored: TileStoreFreshness? { get }

    /// Whether the answer is of use though the job is no longer wanted. Default: `false`.
    var isKeptUnwanted: Bool { get }

    /// Sets a handler called once when the job is no longer wanted.
    func onCancel(_ handler: @escaping @Sendable () -> Void)

    /// Counts bytes in memory; returns whether there is room.
    func holds(_ bytes: Int) -> Bool

    /// More of a wanted body has come. Default: nothing; the job gets it when it has ended.
    ///
    /// - Parameter body: All of it so far.
    func came(_ body: [UInt8])

    /// Whether the body of an answer is wanted, before it comes. Default: if its status is that of a delivery.
    func wants(_ answer: HTTPAnswerHead) -> Bool

    /// Whether a status means that there is nothing, even that of a redirection. Default: never; it is followed.
    func isAbsence(_ status: Int, _ options: HTTPTileOptions) -> Bool

    /// Determines how a whole answer ends, or one that is cut off or longer than ``limit``. Default: by its status.
    func end(_ answer: HTTPAnswerHead, _ options: HTTPTileOptions) -> FetchEnd

    /// Whether ``end(_:_:)`` knows which bytes there are to be, so that one that is cut off may have them all. Default:
    /// `false`.
    var knowsItsBytes: Bool { get }

    /// Whether another request is to be sent at once, in place of the failure. Default: never.
    ///
    /// Called once after ``end(_:_:)`` has failed. It is for each job to see that this has an end.
    func asksAnew() -> Bool

    /// An attempt has failed; the fetch waits for the next one, without a connection.
    func rest()

    /// The fetch has ended, and is not retried.
    func finish(_ fetch: HTTPFetch, _ end: FetchEnd, _ options: HTTPTileOptions)

    /// The fetch was cancelled.
    func cancel()
}

extension HTTPJob {
    var home: String { address }
    var isOpening: Bool { false }
    var kept: KeptAnswer? { nil }
    var stored: TileStoreFreshness? { nil }
    var isKeptUnwanted: Bool { false }

    func wants(_ answer: HTTPAnswerHead) -> Bool { RetryRule.isDelivery(answer.status) }
    func isAbsence(_ status: Int, _ options: HTTPTileOptions) -> Bool { false }
    func end(_ answer: HTTPAnswerHead, _ options: HTTPTileOptions) -> FetchEnd {
        RetryRule.end(
            status: answer.status,
            absentStatuses: isAbsence(answer.status, options) ? [answer.status] : [],
            retryAfterSeconds: answer.retryAfterSeconds
        )
    }
    var knowsItsBytes: Bool { false }
    func asksAnew() -> Bool { false }
    func rest() {}
    func came(_ body: [UInt8]) {}
}

/// A tile with an address of its own.
final class HTTPTileJob: HTTPJob {
    let address: String
    let home: String
    private let place: ImagePlacement
    let limit: Int
    let kept: KeptAnswer?
    private let request: TileRequest
    private let delivery: HTTPDelivery
    private let search: Search
    /// Addresses from this one's on.
    private let addresses: ArraySlice<ServedAddress>
    /// First failure that may pass at an address before this one. With it nothing is known of a tile that is at no other.
    private let pending: TileFailure?

    /// A tile's way through the addresses at which it may be.
    struct Search: Sendable {
        let tiles: any ServerTiles
        let home: String?
        let limit: Int
        let delivery: HTTPDelivery
        let engine: HTTPEngine

        /// Fetches a tile from the first address that has it; there must be one.
        ///
        /// - Parameter pending: First failure that may pass at an address before these.
        func begin(_ request: TileRequest, _ addresses: ArraySlice<ServedAddress>, after pending: TileFailure? = nil) {
            guard let first = addresses.first else { return }
            engine.add(HTTPTileJob(request, first.address, addresses, pending, self))
        }
    }

    private init(
        _ request: TileRequest,
        _ address: String,
        _ addresses: ArraySlice<ServedAddress>,
        _ pending: TileFailure?,
        _ search: Search
    ) {
        (self.request, self.address, self.addresses, self.search) = (request, address, addresses, search)
        self.pending = pending
        home = search.home ?? address
        place = search.tiles.placement(of: request.tile)
        (limit, delivery) = (search.limit, search.delivery)
        // If the cache has the tile's pixels, a confirmation is enough.
        kept = request.isHeld ? nil : delivery.kept[request.tile]
    }

    /// Goes on at the next address; returns whether there is one.
    ///
    /// - Parameter failure: That of this address if it may pass: its server is not asked at another address now.
    private func continues(after failure: TileFailure? = nil) -> Bool {
        var rest = addresses.dropFirst()
        if failure != nil, !rest.isEmpty {
            let origin = HTTPAddress(address)?.origin
            rest = rest.drop { HTTPAddress($0.address)?.origin == origin }
        }
        guard rest.isEmpty else {
            search.begin(request, rest, after: pending ?? failure)
            return true
        }
        if addresses.startIndex > 0, failure == nil, pending == nil { search.tiles.isNowhere(request.tile) }
        return false
    }

    /// Goes on at the next address, or fails.
    private func fail(_ failure: TileFailure, mayPass: Bool) {
        if !continues(after: mayPass ? failure : nil) { request.fail(pending ?? failure) }
    }

    private func isThere() {
        if let address = addresses.first { search.tiles.isThere(address, request.tile) }
    }

    var name: String { address }
    var isDemand: Bool { request.isDemand }
    /// Images are compressed themselves. Without this line a server may send any coding (RFC 9110, 12.5.3).
    var lines: [String] { ["Accept-Encoding: identity"] }
    var stored: TileStoreFreshness? { request.cached }
    /// The cache takes a tile that has left the plan.
    var isKeptUnwanted: Bool { true }

    func onCancel(_ handler: @escaping @Sendable () -> Void) { request.onCancel(handler) }

    func holds(_ bytes: Int) -> Bool { request.holdsEncoded(.bytes(bytes)) }

    func isAbsence(_ status: Int, _ options: HTTPTileOptions) -> Bool { options.absentStatuses.contains(status) }

    func finish(_ fetch: HTTPFetch, _ end: FetchEnd, _ options: HTTPTileOptions) {
        switch end {
        case .delivered:
            isThere()
            delivery.deliver(fetch.keptAnswer(options), to: request, at: place, from: address)
        case .notModified:
            isThere()
            delivery.counter.count { $0.notModified += 1 }
            if let kept = fetch.confirmedAnswer(options) {
                delivery.deliver(kept, to: request, at: place, from: address)
            } else {
                delivery.confirm(request, fetch.freshness(options, isConfirmed: true).stored())
            }
        case .redirected: break
        case .absent:
            if continues() { return }
            if let pending { return request.fail(pending) }
            delivery.counter.countAbsent(address)
            delivery.kept.forget(request.tile)
            request.completeAbsent(freshness: fetch.freshness(options).stored())
        case .postponed(let wait): fail(.postponed(retryAfter: .milliseconds(wait)), mayPass: true)
        case .failed(let cause, _, let mayPass, let seconds):
            let failure = RetryRule.failure(cause, mayPass: mayPass, retryAfterSeconds: seconds)
            // What came, and was too much, is the tile.
            if cause == .noRoom || cause == .tooLarge { return request.fail(failure) }
            fail(failure, mayPass: mayPass)
        }
    }

    func cancel() {
        delivery.counter.count { $0.cancelled += 1 }
        request.cancel()
    }
}
