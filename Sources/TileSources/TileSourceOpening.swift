import Dispatch
import TileCache

/// A source that is being opened on a thread of its own; see ``TileSourceAddress/open(_:http:image:then:)``.
///
/// The opening goes on if this is released.
public final class TileSourceOpening: Sendable {
    /// Receives the source, or why it cannot be opened.
    public typealias Handler = @Sendable (Result<any PyramidTileSource, TileSourceError>) -> Void

    private struct State {
        /// `nil` once it is called, or never will be.
        var handler: Handler?
        /// Called in place of the handler after a cancellation.
        var noteCancellation: (@Sendable () -> Void)?
        var isCancelled = false
        /// Whether nothing is to be waited for any more.
        var isInterrupted = false
        /// Ends what the opening thread waits for.
        var wake: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    /// The opening that runs on this thread.
    @TaskLocal static var current: TileSourceOpening?

    package init() {}

    /// Whether the opening that runs on this thread must not wait for anything any more.
    static var isInterrupted: Bool { current?.isInterrupted ?? false }

    private var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// What an interrupted opening ends with.
    static let interruption = "it was cancelled"

    /// Opens on another thread, once. A thread for each: servers may take a minute to answer.
    ///
    /// - Parameter noteCancellation: Called in place of the handler after a cancellation, also one before this call.
    package func begin(
        then handler: @escaping Handler,
        noteCancellation: (@Sendable () -> Void)? = nil,
        _ open: @escaping @Sendable (_ isWanted: () -> Bool) throws(TileSourceError) -> any PyramidTileSource
    ) {
        let isWanted = state.withLock { state in
            guard !state.isCancelled else { return false }
            (state.handler, state.noteCancellation) = (handler, noteCancellation)
            return true
        }
        guard isWanted else {
            noteCancellation?()
            return
        }
        DispatchQueue(label: "TileSources.opening").async { self.run(open) }
    }

    private func run(_ open: (_ isWanted: () -> Bool) throws(TileSourceError) -> any PyramidTileSource) {
        let result = Self.$current.withValue(self) { () -> Result<any PyramidTileSource, TileSourceError> in
            do throws(TileSourceError) {
                let source = try open { !self.isInterrupted }
                // Some sources open without an answer that is only of use, for example with a usual size of tiles.
                guard !isInterrupted else { throw TileSourceError(source.name, Self.interruption) }
                return .success(source)
            } catch {
                return .failure(error)
            }
        }
        let handler = state.withLock { state in
            defer { (state.handler, state.noteCancellation) = (nil, nil) }
            return state.handler
        }
        handler?(result)
    }

    /// Cancels the opening: unless it has ended, the handler is not called. Does not wait for the handler.
    ///
    /// The thread then stops waiting for servers and cutting images. What it has opened is closed.
    ///
    /// - Returns: Whether that kept the handler from being called. `false` if the opening has ended, whose handler may
    ///   begin after this returns, or after an earlier cancellation.
    @discardableResult public func cancel() -> Bool {
        let (handler, note) = state.withLock { state in
            defer { (state.handler, state.noteCancellation) = (nil, nil) }
            state.isCancelled = true
            return (state.handler, state.noteCancellation)
        }
        interrupt()
        note?()
        return handler != nil
    }

    /// Stops waiting for servers and cutting images: the handler receives an error soon, unless its call has begun.
    package func interrupt() {
        let wake = state.withLock { state in
            state.isInterrupted = true
            return state.wake
        }
        wake?()
    }

    /// Runs a wait of the opening thread, which an interruption ends.
    ///
    /// - Parameter wake: Ends the wait, from any thread, perhaps before it begins.
    static func waiting<Value>(_ wake: @escaping @Sendable () -> Void, _ wait: () -> Value) -> Value {
        guard let opening = current else { return wait() }
        let isInterrupted = opening.state.withLock { state in
            state.wake = wake
            return state.isInterrupted
        }
        if isInterrupted { wake() }
        defer { opening.state.withLock { $0.wake = nil } }
        return wait()
    }
}

extension TileSourceAddress {
    /// Opens the source on a thread of its own, for programs whose own thread must not wait: an answer of a server takes up
    /// to about a minute, and a large image is decoded and cut first.
    ///
    /// - Parameters:
    ///   - options: Options of the pixels.
    ///   - http: Options of requests to a server; ignored for sources on a disk.
    ///   - image: Options for cutting one large image or a TIFF in strips; ignored for other sources.
    ///   - handler: Called once, on that thread, perhaps before this returns, with what
    ///     ``open(_:http:image:progress:)`` would have returned or thrown. Not after ``TileSourceOpening/cancel()``.
    @discardableResult public func open(
        _ options: TileSourceOptions = TileSourceOptions(),
        http: HTTPTileOptions = HTTPTileOptions(),
        image: ImageTileOptions = ImageTileOptions(),
        then handler: @escaping TileSourceOpening.Handler
    ) -> TileSourceOpening {
        let opening = TileSourceOpening()
        opening.begin(then: handler) { isWanted throws(TileSourceError) in
            try open(options, http: http, image: image, progress: { _ in isWanted() })
        }
        return opening
    }

    /// Opens the source on a thread of its own, for `async` functions. Parameters as
    /// ``open(_:http:image:progress:)``.
    ///
    /// - Throws: ``TileSourceError`` as that function; `CancellationError` as soon as the task is cancelled.
    public func opened(
        _ options: TileSourceOptions = TileSourceOptions(),
        http: HTTPTileOptions = HTTPTileOptions(),
        image: ImageTileOptions = ImageTileOptions()
    ) async throws -> any PyramidTileSource {
        let opening = TileSourceOpening()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                opening.begin(
                    then: { continuation.resume(with: $0) },
                    noteCancellation: { continuation.resume(throwing: CancellationError()) }
                ) { isWanted throws(TileSourceError) in
                    try open(options, http: http, image: image, progress: { _ in isWanted() })
                }
            }
        } onCancel: {
            opening.cancel()
        }
    }
}
