/// A cache's workers by what they do.
///
/// A worker whose source does not return is replaced by a spare one. When it comes back there is one worker too many, and
/// the next to look for work becomes a spare one.
struct WorkerRoster: Sendable {
    /// A source's decoder at work.
    struct Decode: Sendable {
        var layer: Int
        /// It has taken so long that another has its worker's place.
        var isReplaced = false
    }

    /// Workers with nothing to do.
    private(set) var idle: [Int]
    /// Workers that replace others.
    private(set) var spare: [Int]
    /// Workers that are too many.
    private(set) var surplus = 0
    /// When each worker began to run a source's code, in nanoseconds.
    private var callStarts: [Int64?]
    /// Decoders at work, by worker.
    private(set) var decodes: [Int: Decode] = [:]
    /// Workers that wait for an asynchronous load, by the load's number.
    private var waiting: [LoadID: Int] = [:]

    /// - Parameters:
    ///   - count: workers at a time.
    ///   - spares: workers that may replace them.
    init(count: Int, spares: Int) {
        idle = (0..<count).reversed()
        spare = (count..<count + spares).reversed()
        callStarts = Array(repeating: nil, count: count + spares)
    }

    mutating func takeIdle(atMost limit: Int) -> [Int] {
        let count = max(min(limit, idle.count), 0)
        defer { idle.removeLast(count) }
        return idle.suffix(count)
    }

    mutating func rest(_ worker: Int) { idle.append(worker) }

    /// Whether a worker that looks for work is one too many; it is a spare one then.
    mutating func retires(_ worker: Int) -> Bool {
        guard surplus > 0 else { return false }
        surplus -= 1
        spare.append(worker)
        return true
    }

    /// Notes workers that came back after others had taken their places.
    mutating func noteLate(_ count: Int) { surplus += count }

    /// Puts spare workers into the places of so many that do not come back.
    mutating func replace(_ count: Int) {
        for _ in 0..<count { idle.append(spare.removeLast()) }
    }

    // MARK: - Sources' code

    mutating func beginCall(_ worker: Int, at time: Int64) { callStarts[worker] = time }

    mutating func endCall(_ worker: Int) { callStarts[worker] = nil }

    /// Workers within code of a source that they began to run before a time.
    func blocked(before time: Int64) -> Int { callStarts.count { $0.map { $0 < time } ?? false } }

    /// Notes that a worker waits for the answer to a load.
    mutating func wait(_ worker: Int, for load: LoadID) { waiting[load] = worker }

    /// The worker that waits for a load that has ended.
    mutating func takeWaiting(for load: LoadID) -> Int? { waiting.removeValue(forKey: load) }

    mutating func beginDecode(_ worker: Int, layer: Int, at time: Int64) {
        beginCall(worker, at: time)
        decodes[worker] = Decode(layer: layer)
    }

    /// Notes the end of a worker's decoder; the layer of one whose worker was replaced.
    mutating func endDecode(_ worker: Int) -> Int? {
        guard let decode = decodes.removeValue(forKey: worker), decode.isReplaced else { return nil }
        surplus += 1
        return decode.layer
    }

    /// Marks decoders that began before a time as replaced; their layers.
    mutating func replaceDecodes(startedBefore time: Int64, atMost limit: Int) -> [Int] {
        var layers: [Int] = []
        for (worker, decode) in decodes where layers.count < limit && !decode.isReplaced {
            guard let start = callStarts[worker], start < time else { continue }
            decodes[worker]?.isReplaced = true
            layers.append(decode.layer)
        }
        return layers
    }

    /// When the oldest decoder began whose worker was not replaced; `nil` if there is none.
    var oldestDecode: Int64? { decodes.lazy.filter { !$0.value.isReplaced }.compactMap { callStarts[$0.key] }.min() }
}
