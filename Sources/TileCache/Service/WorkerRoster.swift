/// Identifies a worker; its number is that of its queue.
struct WorkerID: Hashable, Sendable {
    let number: Int
}

/// Workers by state.
///
/// A worker whose source hangs is replaced by a spare one. After its return one worker is surplus: the next one to look
/// for work becomes a spare.
struct WorkerRoster: Sendable {
    /// A source's code at work without a load: a decoder, or a request that goes on after its answer.
    struct Decode: Sendable {
        var layer: Int
        var isRequest = false
        /// Whether its worker was replaced.
        var isReplaced = false
    }

    private(set) var idle: [WorkerID]
    /// Workers that may replace others.
    private(set) var spare: [WorkerID]
    /// Number of workers that have to become spares.
    private(set) var surplus = 0
    /// Start of each worker's call of a source, in nanoseconds.
    private var callStarts: [Int64?]
    /// Decoders and answered requests at work, by worker.
    private(set) var decodes: [WorkerID: Decode] = [:]
    /// Workers that are handing a request to its source.
    private var requesting: [LoadID: WorkerID] = [:]

    /// - Parameters:
    ///   - count: Number of concurrent workers.
    ///   - spares: Number of workers that may replace them.
    init(count: Int, spares: Int) {
        idle = (0..<count).reversed().map(WorkerID.init)
        spare = (count..<count + spares).reversed().map(WorkerID.init)
        callStarts = Array(repeating: nil, count: count + spares)
    }

    mutating func takeIdle(atMost limit: Int) -> [WorkerID] {
        let count = max(min(limit, idle.count), 0)
        defer { idle.removeLast(count) }
        return idle.suffix(count)
    }

    mutating func rest(_ worker: WorkerID) { idle.append(worker) }

    /// Whether a worker that looks for work is surplus; if so, it becomes a spare.
    mutating func retires(_ worker: WorkerID) -> Bool {
        guard surplus > 0 else { return false }
        surplus -= 1
        spare.append(worker)
        return true
    }

    /// Counts replaced workers that have returned.
    mutating func noteLate(_ count: Int) { surplus += count }

    /// Makes spare workers idle, in place of hanging ones.
    mutating func replace(_ count: Int) { for _ in 0..<count { idle.append(spare.removeLast()) } }

    // MARK: - Sources' code

    mutating func beginCall(_ worker: WorkerID, at time: Int64) { callStarts[worker.number] = time }

    mutating func endCall(_ worker: WorkerID) { callStarts[worker.number] = nil }

    /// Number of workers whose call of a source began before a time.
    func blocked(before time: Int64) -> Int { callStarts.count { $0.map { $0 < time } ?? false } }

    /// Notes that a worker hands a request to its source.
    mutating func beginRequest(_ worker: WorkerID, of load: LoadID) { requesting[load] = worker }

    /// Notes that the source has returned, or answered; returns the worker that was handing it the request.
    @discardableResult
    mutating func endRequest(of load: LoadID) -> WorkerID? { requesting.removeValue(forKey: load) }

    /// Notes that the source of a worker's request has answered before it returned.
    ///
    /// - Parameter isReplaced: Whether the load was written off. Its end counts the worker as returned (`noteLate`).
    mutating func noteAnswer(_ worker: WorkerID, layer: Int, isReplaced: Bool) {
        decodes[worker] = Decode(layer: layer, isRequest: true, isReplaced: isReplaced)
        // The worker is not back before its source returns.
        if isReplaced { surplus -= 1 }
    }

    mutating func beginDecode(_ worker: WorkerID, layer: Int, at time: Int64) {
        beginCall(worker, at: time)
        decodes[worker] = Decode(layer: layer)
    }

    /// Ends a worker's decoder or answered request; returns its layer if the worker was replaced.
    mutating func endDecode(_ worker: WorkerID) -> Int? {
        guard let decode = decodes.removeValue(forKey: worker), decode.isReplaced else { return nil }
        surplus += 1
        return decode.layer
    }

    /// Marks decoders and answered requests that began before a time as replaced; returns them.
    mutating func replaceDecodes(startedBefore time: Int64, atMost limit: Int) -> [Decode] {
        var replaced: [Decode] = []
        for (worker, decode) in decodes where replaced.count < limit && !decode.isReplaced {
            guard let start = callStarts[worker.number], start < time else { continue }
            decodes[worker]?.isReplaced = true
            replaced.append(decode)
        }
        return replaced
    }

    /// Start of the oldest decoder or answered request whose worker was not replaced.
    var oldestDecode: Int64? {
        decodes.lazy.filter { !$0.value.isReplaced }.compactMap { callStarts[$0.key.number] }.min()
    }
}
