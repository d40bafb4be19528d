import Synchronization

/// One tile asked of a ``TileSource``; completed once, by whichever of its calls comes first.
///
/// A request that its source lets go of without an answer counts as failed and is asked again later.
public final class TileRequest: Sendable {
    /// Whose tile.
    public let layer: LayerID
    /// Which tile.
    public let tile: TileCoordinate
    /// Whether a view needed the tile when the request was made; else it is fetched ahead.
    public let isDemand: Bool

    private struct State {
        var isComplete = false
        var isWanted = true
        var cancelHandler: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let core: CacheCore
    private let ticket: LoadTicket
    /// Where the tile goes that only a coarser one is made of.
    private let child: ChildLoad?

    init(core: CacheCore, layer: LayerID, ticket: LoadTicket, child: ChildLoad? = nil) {
        self.core = core
        self.child = child
        self.ticket = ticket
        self.layer = layer
        tile = ticket.key.coordinate
        isDemand = ticket.isDemand
    }

    deinit {
        if claim() { complete(.failed(isPermanent: false, retryAfter: nil)) }
    }

    /// Whether the tile is still wanted; a source that fetches in steps may check between them.
    public var isWanted: Bool { state.withLock { $0.isWanted && !$0.isComplete } }

    /// Sets a handler called once when the tile is no longer wanted, or at once if it already is not. The request still is
    /// to be completed, best with ``cancel()``.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        // The handler before it is let go outside of the lock: what it owns may be anybody's code.
        let (callNow, old) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let old = state.cancelHandler
            if state.isWanted, !state.isComplete { state.cancelHandler = handler }
            return (!state.isWanted && !state.isComplete, old)
        }
        withExtendedLifetime(old) {}
        if callNow { handler() }
    }

    /// Counts encoded bytes that the source holds for this request in its own memory against the limit, until the request
    /// is completed. A later call replaces an earlier one.
    ///
    /// - Returns: whether there is room for them. If not, or if the request is over, nothing is counted anew, and the
    ///   source should hold no more than before.
    @discardableResult
    public func holdsEncoded(_ size: ByteCount) -> Bool {
        guard !state.withLock({ $0.isComplete }) else { return false }
        let hold = { [self] in core.holdEncoded(size.bytes, for: ticket) }
        return child?.hold(hold) ?? hold()
    }

    /// Completes the request with pixels that `body` writes straight into the cache's memory, or with its word that the
    /// tile does not exist.
    ///
    /// The bytes are taken from the budget now, if they have not been. `body` is not called where there is no room for the tile, or where the
    /// request has been completed before.
    ///
    /// - Returns: whether `body` was called.
    @discardableResult
    public func complete(_ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        guard claim() else {
            core.noteSecondAnswer()
            return false
        }
        return child?.write(body) ?? core.write(ticket, body)
    }

    /// Completes the request: the tile does not exist.
    public func completeAbsent() { finish(.absent) }

    /// Completes the request: it failed, for good or for now.
    public func fail(_ failure: TileFailure = .transient(retryAfter: .zero)) {
        finish(LoadResult(failure))
    }

    /// Completes the request: it was cancelled because it is no longer wanted.
    public func cancel() { finish(.cancelled) }

    /// Counts an answer that came after another and changes nothing.
    package func noteSecondAnswer() { core.noteSecondAnswer() }

    private func finish(_ result: LoadResult) {
        guard claim() else { return core.noteSecondAnswer() }
        complete(result)
    }

    private func complete(_ result: LoadResult) {
        if let child { child.finish(result) } else { core.complete(ticket, result) }
    }

    private func claim() -> Bool {
        let (isFirst, handler) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            if state.isComplete { return (false, nil) }
            state.isComplete = true
            let handler = state.cancelHandler
            state.cancelHandler = nil
            return (true, handler)
        }
        // Let go outside of the lock, as in `onCancel`.
        withExtendedLifetime(handler) {}
        return isFirst
    }

    /// Notes that nobody wants the tile; what the source wants to be called then, if it has not been.
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
        case .wrongSize: self = .failed(isPermanent: false, retryAfter: nil)
        }
    }
}
