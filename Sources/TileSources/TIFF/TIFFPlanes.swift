import TileCache

/// The reads of one tile's planes, which end together.
final class TIFFPlanes: Sendable {
    enum Failure: Error { case failed(TileFailure, TileLoadFailure), cancelled }

    private struct State {
        var planes: [RangeBytes?]
        /// Bytes that the cache counts, by plane.
        var held: [Int]
        var left: Int
        var failure: Failure?
        var isCancelled = false
        var cancels: [@Sendable () -> Void] = []
    }

    private let state: Lock<State>
    private let then: @Sendable (Result<[RangeBytes], Failure>) -> Void

    init(count: Int, then: @escaping @Sendable (Result<[RangeBytes], Failure>) -> Void) {
        state = Lock(
            State(planes: .init(repeating: nil, count: count), held: .init(repeating: 0, count: count), left: count)
        )
        self.then = then
    }

    /// Adds a function that cancels a read.
    func add(_ cancel: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state -> Bool in
            state.cancels.append(cancel)
            return state.isCancelled
        }
        if isCancelled { cancel() }
    }

    func cancel() {
        let cancels = state.withLock { state in
            state.isCancelled = true
            return state.cancels
        }
        for cancel in cancels { cancel() }
    }

    /// Counts a plane's bytes; the cache knows one number for a request, that of all planes.
    ///
    /// One thread counts at a time. The lock is not held while the cache is asked, which may cancel the request.
    func hold(_ bytes: Int, _ plane: Int, _ hold: (Int) -> Bool) -> Bool {
        let (before, total) = state.withLock { state -> (Int, Int) in
            let before = state.held[plane]
            state.held[plane] = bytes
            return (before, state.held.reduce(0, +))
        }
        let hasRoom = hold(total)
        if !hasRoom { state.withLock { $0.held[plane] = before } }
        return hasRoom
    }

    func set(_ end: RangeEnd, _ plane: Int) {
        let (result, cancels) = state.withLock { state -> (Result<[RangeBytes], Failure>?, [@Sendable () -> Void]) in
            switch end {
            case .bytes(let bytes): state.planes[plane] = bytes
            case .failed(let failure, let cause): state.failure = state.failure ?? .failed(failure, cause)
            case .cancelled: state.failure = state.failure ?? .cancelled
            }
            state.left -= 1
            guard state.left == 0 else {
                // Without one plane the others are no use.
                guard state.failure != nil, !state.isCancelled else { return (nil, []) }
                state.isCancelled = true
                return (nil, state.cancels)
            }
            return (state.failure.map { .failure($0) } ?? .success(state.planes.compactMap { $0 }), [])
        }
        for cancel in cancels { cancel() }
        if let result { then(result) }
    }
}
