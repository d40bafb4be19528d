import TileCache

/// A short document of a server, fetched as a whole. For example the description of a tile service.
final class HTTPDocument: HTTPJob {
    let address: String
    let home: String
    let limit: Int
    private let answer = Awaited<Result<[UInt8], TileLoadFailure>>()
    /// Kept and never called. If it is dropped at once, Swift 6.3's optimiser leaks the closure's weak references.
    private let handler = Lock<(@Sendable () -> Void)?>(nil)

    private init(_ address: String, home: String, limit: Int) {
        (self.address, self.home, self.limit) = (address, home, limit)
    }

    /// Fetches a document and waits, with the engine's retries and time-outs.
    ///
    /// - Parameter home: Address whose origin gets the options' headers, user and password. Default: the document's own.
    static func get(
        _ address: String,
        home: String? = nil,
        limit: Int,
        _ engine: HTTPEngine
    ) throws(TileSourceError) -> [UInt8] {
        // An opening that was cancelled sends no request.
        guard !TileSourceOpening.isInterrupted else { throw TileSourceError(address, TileSourceOpening.interruption) }
        let document = HTTPDocument(address, home: home ?? address, limit: limit)
        engine.add(document)
        switch document.answer.wait(orInterrupted: cancelled) {
        case .success(let bytes):
            do { return try Gzip.plain(bytes, limit: limit).get() } catch {
                throw TileSourceError(address, error.message)
            }
        case .failure(let failure): throw TileSourceError(address, failure.message)
        }
    }

    var name: String { address }
    var isDemand: Bool { true }
    var isOpening: Bool { true }
    /// Without this line a server may send any coding (RFC 9110, 12.5.3). Some store their files as gzip.
    var lines: [String] { ["Accept-Encoding: gzip"] }

    func onCancel(_ handler: @escaping @Sendable () -> Void) { self.handler.withLock { $0 = handler } }

    func holds(_ bytes: Int) -> Bool { true }

    func finish(_ fetch: HTTPFetch, _ end: FetchEnd, _ options: HTTPTileOptions) {
        switch end {
        case .failed(let cause, let message, _, _): answer.set(.failure(TileLoadFailure(cause, message)))
        case .postponed: answer.set(.failure(TileLoadFailure(.status, RetryRule.pause)))
        case .delivered, .notModified, .absent, .redirected: answer.set(.success(fetch.body))
        }
    }

    func cancel() { answer.set(Self.cancelled) }

    private static let cancelled = Result<[UInt8], TileLoadFailure>.failure(
        TileLoadFailure(.connection, TileSourceOpening.interruption)
    )
}
