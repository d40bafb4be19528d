/// A request, not retained, so that its release by the source is noticed.
struct WeakRequest: @unchecked Sendable {
    weak var value: TileRequest?
}

/// Requests that asynchronous sources have not answered, by load.
struct Requests: Sendable {
    private var requests: [LoadID: WeakRequest] = [:]

    var isEmpty: Bool { requests.isEmpty }

    mutating func add(_ request: TileRequest, for load: LoadID) { requests[load] = WeakRequest(value: request) }

    @discardableResult
    mutating func remove(_ load: LoadID) -> WeakRequest? { requests.removeValue(forKey: load) }

    /// Requests whose load meets a condition. They must be released without the lock.
    func all(where isIncluded: (LoadID) -> Bool) -> [TileRequest] {
        requests.compactMap { isIncluded($0) ? $1.value : nil }
    }
}
