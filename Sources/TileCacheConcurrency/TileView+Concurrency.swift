import Dispatch
public import TileCache

extension TileView {
    /// Sets a main-actor handler called when tiles that would improve the last frame are ready.
    ///
    /// Replaces ``TileCache/TileView/onTilesReady`` and sets the callback queue to the main queue.
    ///
    /// - Parameter handler: The handler. Default: `nil`, which ends the calls.
    @MainActor
    public func setTilesReadyHandler(_ handler: (@MainActor () -> Void)?) {
        callbackQueue = .main
        guard let handler else {
            onTilesReady = nil
            return
        }
        onTilesReady = { MainActor.assumeIsolated { handler() } }
    }

    /// Creates a stream of elements: tiles that would improve the last frame are ready.
    ///
    /// Elements that were not taken are merged into one. The stream ends with the view, and when the handler is
    /// replaced; `for await` does not keep the view alive.
    ///
    /// Replaces ``TileCache/TileView/onTilesReady``: a view has one handler or one stream.
    public func tilesReady() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let end = StreamEnd(continuation: continuation)
        onTilesReady = { end.continuation.yield() }
        return stream
    }
}

/// Ends a stream when its last reference, held by the view's handler, is released.
private final class StreamEnd: Sendable {
    let continuation: AsyncStream<Void>.Continuation

    init(continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

    deinit { continuation.finish() }
}
