/// A request for one tile of a ``TileSource``. The first of its completion calls completes it.
///
/// A request that is released without completion counts as failed and is retried later.
public final class TileRequest: Sendable {
    /// Layer of the tile.
    public let layer: LayerID
    /// Position of the tile.
    public let tile: TileCoordinate
    /// Whether a view or a host wanted the tile when the request was made. Otherwise it is prefetched.
    public let isDemand: Bool

    private struct State {
        var isComplete = false
        var isWanted = true
        var cancelHandler: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let core: CacheCore
    private let ticket: LoadTicket
    /// Parent load, if the tile is only needed to make a coarser one.
    private let child: ChildLoad?
    /// Notes for the layer's stores; `nil` if it has none.
    private let notes: LoadNotes?

    init(core: CacheCore, layer: LayerID, ticket: LoadTicket, child: ChildLoad? = nil, notes: LoadNotes? = nil) {
        self.core = core
        self.notes = notes
        self.child = child
        self.ticket = ticket
        self.layer = layer
        tile = ticket.key.coordinate
        isDemand = ticket.isDemand
    }

    deinit {
        if claim() { complete(.failed(isPermanent: false, retryAfter: nil)) }
    }

    /// Whether the tile is still wanted. A source that fetches in steps may check between them.
    public var isWanted: Bool { state.withLock { $0.isWanted && !$0.isComplete } }

    /// Validators of a tile that has to be revalidated; `nil` if there is none. See ``TilePixels/cached``.
    public var cached: TileStoreFreshness? { notes?.now.cached }

    /// Sets a handler called once when the tile is no longer wanted. Called at once if it already is not.
    ///
    /// The request still must be completed, preferably with ``cancel()``.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        // The previous handler is released outside of the lock: its deinit may run any code.
        let (callNow, old) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let old = state.cancelHandler
            if state.isWanted, !state.isComplete { state.cancelHandler = handler }
            return (!state.isWanted && !state.isComplete, old)
        }
        withExtendedLifetime(old) {}
        if callNow { handler() }
    }

    /// Counts the source's encoded bytes against the limit, until the request is completed.
    ///
    /// A later call replaces the value of an earlier one.
    ///
    /// - Returns: Whether they fit. If not, or if the request is completed, the count is unchanged, and the source
    ///   should hold no more than before.
    @discardableResult
    public func holdsEncoded(_ size: ByteCount) -> Bool {
        guard !state.withLock({ $0.isComplete }) else { return false }
        let hold = { [self] in core.holdEncoded(size.bytes, for: ticket) }
        return child?.hold(hold) ?? hold()
    }

    /// Completes the request with pixels that `body` writes into the cache, or as absent.
    ///
    /// Reserves the tile's bytes now, unless they are reserved already. `body` is not called if there is no room for
    /// the tile, or if the request was completed before.
    ///
    /// - Returns: Whether `body` was called.
    @discardableResult
    public func complete(_ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        guard claim() else {
            core.noteSecondAnswer()
            return false
        }
        core.enterActivity()
        defer { core.leaveActivity() }
        return child?.write(body) ?? core.write(ticket, notes, body)
    }

    /// Completes the request as absent: the tile does not exist.
    ///
    /// - Parameter freshness: Until when that is valid, in memory and in stores. Default: `nil`, for ever.
    public func completeAbsent(freshness: TileStoreFreshness? = nil) {
        guard claim() else { return core.noteSecondAnswer() }
        notes?.change { $0.freshness = freshness }
        complete(.absent)
    }

    /// Whether ``cached`` are the validators of pixels in memory: if they are still valid, nothing is written.
    package var isHeld: Bool { notes?.now.isHeld ?? false }

    /// Completes the request without pixels: the tile with the validators ``cached`` is still valid.
    ///
    /// - Parameter freshness: Its new freshness. Default: `nil`, as before.
    public func completeUnchanged(freshness: TileStoreFreshness? = nil) {
        guard let notes, child == nil, notes.now.isHeld else {
            complete { pixels in
                pixels.freshness = freshness
                return .unchanged
            }
            return
        }
        guard claim() else { return core.noteSecondAnswer() }
        if let freshness { notes.change { $0.freshness = freshness } }
        core.enterActivity()
        defer { core.leaveActivity() }
        core.confirm(ticket, notes)
    }

    /// Completes the request as failed, permanently or temporarily.
    public func fail(_ failure: TileFailure = .transient(retryAfter: .zero)) { finish(LoadResult(failure)) }

    /// Completes the request as cancelled, because the tile is no longer wanted.
    ///
    /// If it still is, the request counts as failed, and is retried after a wait.
    public func cancel() {
        // Else a source that cancels what is wanted, such as one without a network, would be asked again at once.
        let isWanted = state.withLock { $0.isWanted }
        finish(isWanted ? .failed(isPermanent: false, retryAfter: nil) : .cancelled)
    }

    /// Counts a second answer, which changes nothing.
    package func noteSecondAnswer() { core.noteSecondAnswer() }

    private func finish(_ result: LoadResult) {
        guard claim() else { return core.noteSecondAnswer() }
        complete(result)
    }

    private func complete(_ result: LoadResult) {
        if let child { child.finish(result) } else { core.complete(ticket, result, notes) }
    }

    private func claim() -> Bool {
        let (isFirst, handler) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            if state.isComplete { return (false, nil) }
            state.isComplete = true
            let handler = state.cancelHandler
            state.cancelHandler = nil
            return (true, handler)
        }
        // Released outside of the lock, as in `onCancel`.
        withExtendedLifetime(handler) {}
        return isFirst
    }

    /// Marks the tile as unwanted. Returns the handler to call, if it has not been called.
    func noteUnwanted() -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.isWanted = false
            let handler = state.isComplete ? nil : state.cancelHandler
            state.cancelHandler = nil
            return handler
        }
    }
}

extension LoadResult {
    init(_ failure: TileFailure) {
        switch failure {
        case .permanent: self = .failed(isPermanent: true, retryAfter: nil)
        case .transient(let wait): self = .failed(isPermanent: false, retryAfter: max(wait.nanoseconds, 0))
        case .postponed(let wait): self = .postponed(wait: max(wait.nanoseconds, 0))
        case .wrongSize: self = .failed(isPermanent: false, retryAfter: nil)
        }
    }
}
