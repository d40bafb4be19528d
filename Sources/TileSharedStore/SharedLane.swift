import Dispatch
import TileCache

/// A queue and the connections that only its steps use.
final class SharedLane: @unchecked Sendable {
    let index: Int
    let queue: DispatchQueue
    // Of steps of the queue only.
    private(set) var connection: SharedConnection?

    init(
        _ index: Int,
        _ servers: [SharedServer],
        _ options: TileSharedStoreOptions
    ) throws(TileSharedStoreError) {
        self.index = index
        queue = DispatchQueue(label: "TileSharedStore.\(index)")
        connection = try SharedConnection(servers, options)
    }

    func close() { connection = nil }
}

/// A result that one thread sets and another waits for.
final class SharedResult<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let isSet = DispatchSemaphore(value: 0)

    func set(_ result: Value) {
        value.withLock { $0 = result }
        isSet.signal()
    }

    /// Waits for the result; nil if it does not come in time.
    func wait(nanoseconds: Int64) -> Value? {
        _ = isSet.wait(timeout: .now() + .nanoseconds(Int(max(nanoseconds, 0))))
        return value.withLock { $0 }
    }
}
