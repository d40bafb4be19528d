import Dispatch
import TileCache

/// Byte ranges of a file on a web server.
final class HTTPRanges: Sendable {
    private struct Waiter {
        var client: RangeClient
        var least: Int
        var then: @Sendable (RangeEnd) -> Void
    }

    private struct State {
        var queue = RangeQueue()
        var gathering = RangeGathering()
        /// Reads that are waiting or being fetched.
        var waiters: [Int: Waiter] = [:]
        /// Requests in flight.
        var jobs: [ObjectIdentifier: HTTPRangeJob] = [:]
        /// Those of which an attempt has failed. They hold up no needed read: the engine bounds connections.
        var resting: Set<ObjectIdentifier> = []
        var nextID = 0
        /// `nil` until the first answer.
        var pin: RangePin?
        var isChanged = false
        var isStorable = true
        /// All bytes of a short file that came as a whole: a server without ranges is not asked again.
        var file: [UInt8]?
        /// Further requests that ask caches to pass them on: one has answered with the whole file.
        var pastCaches = 0

        /// Takes the reads that wait out. Of a file that has changed nothing more is requested.
        mutating func takeUnwanted() -> Unwanted {
            let jobs = resting.compactMap { self.jobs[$0] }
            let reads = (jobs.flatMap(\.group.reads) + queue.waiting).compactMap { read in
                waiters.removeValue(forKey: read.id).map { (read, $0) }
            }
            queue = RangeQueue()
            return Unwanted(jobs: jobs, reads: reads)
        }
    }

    private typealias Ended = (read: RangeQueue.Read, waiter: Waiter)

    /// Requests between two attempts, and the reads that wait.
    private struct Unwanted {
        var jobs: [HTTPRangeJob]
        var reads: [Ended]
    }

    let address: String
    private let options: HTTPTileOptions
    private let engine: HTTPEngine
    private let origin: Origin
    private let counter: SourceCounter
    private let queues = DecodeQueues()
    /// That of waits for further reads.
    private let waits = DispatchQueue(label: "TileSources.ranges")
    private let state: Lock<State>

    /// Sends nothing yet; `nil` if libcurl cannot start.
    init?(
        _ address: String,
        _ options: HTTPTileOptions,
        counter: SourceCounter,
        gathering: RangeGathering = RangeGathering()
    ) {
        guard let engine = HTTPEngine(options, counter: counter, wallClock: wallClockSeconds) else { return nil }
        (self.address, self.options, self.engine, self.counter) = (address, options, engine, counter)
        origin = Origin.of(address)
        state = Lock(State(gathering: gathering))
    }

    /// The file that was opened; `nil` before the first answer.
    var pin: RangePin? { state.withLock { $0.pin } }
    var isChanged: Bool { state.withLock { $0.isChanged } }
    /// Whether stores may keep what was read: the server lets them, and a file that replaces this one can be told from it.
    var isStorable: Bool { state.withLock { $0.isStorable && $0.pin?.isIdentified == true } }
    /// Bytes in memory as long as the file is open.
    var heldBytes: Int { state.withLock { $0.file?.count ?? 0 } }

    /// What is wrong with the file or its server; `nil` if nothing is.
    var warning: String? {
        state.withLock { state in
            if state.isChanged { return RangeRule.changedOnServer }
            return state.pin.map(\.isIdentified) == false ? RangeRule.unidentified : nil
        }
    }

    /// Reads a range. The first read is to end before the next begins.
    ///
    /// - Parameter least: Bytes of the first read that suffice: a server may refuse to answer one that reaches beyond the
    ///   file's end.
    func read(
        _ range: Range<Int>,
        least: Int = 1,
        for client: RangeClient,
        then: @escaping @Sendable (RangeEnd) -> Void
    ) -> RangeRead {
        if let file = state.withLock({ $0.file }) {
            let end = client.held(range, name(of: range), counter) { .bytes(.received(Array(file[range]))) }
            queues.next.async { then(end) }
            return RangeRead()
        }
        let waiter = Waiter(client: client, least: least, then: then)
        let begun = state.withLock { state -> (id: Int, wait: Int64?)? in
            guard !state.isChanged else { return nil }
            state.nextID += 1
            state.queue.add(RangeQueue.Read(id: state.nextID, range: range, isDemand: client.isDemand))
            state.waiters[state.nextID] = waiter
            // A thread that opens the source waits for this one before it begins another.
            if client.isOpening { state.gathering.end() }
            let wait = client.isOpening ? nil : state.gathering.add(now: Self.now)
            return (state.nextID, wait)
        }
        guard let (id, wait) = begun else {
            failAsChanged(waiter, range)
            return RangeRead()
        }
        if let wait {
            // Not weakly: each read ends, also of a source that is released meanwhile.
            waits.asyncAfter(deadline: .now() + .nanoseconds(Int(wait))) { [self] in
                state.withLock { $0.gathering.end() }
                begin()
            }
        } else {
            begin()
        }
        return RangeRead(cancel: { [weak self] in self?.cancel(id) }, raise: { [weak self] in self?.raise(id) })
    }

    private func failAsChanged(_ waiter: Waiter, _ range: Range<Int>) {
        let failure = TileLoadFailure(.changed, RangeRule.changedOnServer)
        counter.count(failure, of: name(of: range))
        queues.next.async { waiter.then(.failed(.permanent, failure)) }
    }

    /// Name of a range, for messages.
    func name(of range: Range<Int>) -> String { "\(address): bytes \(range.lowerBound)-\(range.upperBound - 1)" }

    private func raise(_ id: Int) {
        state.withLock { state in
            state.queue.raise(id)
            state.waiters[id]?.client.isDemand = true
        }
    }

    func stop() { engine.stop() }

    deinit { engine.stop() }

    /// Whether a view needs one of a group's reads now.
    func isDemand(_ group: RangeQueue.Group) -> Bool {
        state.withLock { state in group.reads.contains { state.waiters[$0.id]?.client.isDemand ?? false } }
    }

    /// Whether a read has neither ended nor been cancelled.
    func isWaiting(_ id: Int) -> Bool { state.withLock { $0.waiters[id] != nil } }

    static var now: Int64 { MonotonicTime.now.nanoseconds }

    /// Notes when the first bytes of an answer have come.
    func note(latency: Int64) { state.withLock { $0.gathering.note(latency: latency) } }

    /// Maximum requests at a time over HTTP/2, where they need no connections of their own.
    private static let mostStreams = 16

    /// Sends requests as long as there are reads that wait for no others, and free connections. What waits for its next
    /// attempt has none: needed reads go on, others wait with it, since the server has asked for fewer.
    private func begin() {
        let most = origin.habits.isMultiplexed ? max(Self.mostStreams, options.connections) : options.connections
        while true {
            let job = state.withLock { state -> HTTPRangeJob? in
                guard state.gathering.isOver(now: Self.now) else { return nil }
                let isFree = state.jobs.count < most
                let hasSpare = state.jobs.count - state.resting.count < most
                guard isFree || (hasSpare && state.queue.hasDemand), let group = state.queue.next() else { return nil }
                let waiters = group.reads.compactMap { state.waiters[$0.id] }
                let least = waiters.map(\.least).max() ?? 1
                let question = RangeQuestion(range: group.range, pin: state.pin, least: least)
                let job = HTTPRangeJob(self, group, waiters.map(\.client), question, isPastCaches: state.pastCaches > 0)
                state.pastCaches = max(state.pastCaches - 1, 0)
                state.jobs[ObjectIdentifier(job)] = job
                return job
            }
            guard let job else { return }
            engine.add(job)
        }
    }

    /// Sends others while a request waits for its next attempt.
    func rest(_ job: HTTPRangeJob) {
        let unwanted = state.withLock { state -> Unwanted? in
            state.resting.insert(ObjectIdentifier(job))
            return state.isChanged ? state.takeUnwanted() : nil
        }
        if let unwanted { drop(unwanted) }
        begin()
    }

    private func drop(_ unwanted: Unwanted) {
        for job in unwanted.jobs { job.giveUp() }
        for (read, waiter) in unwanted.reads { failAsChanged(waiter, read.range) }
    }

    private func cancel(_ id: Int) {
        let (waiter, job) = state.withLock { state -> (Waiter?, HTTPRangeJob?) in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return (nil, nil) }
            if state.queue.remove(id) { return (waiter, nil) }
            let job = state.jobs.values.first { job in job.group.reads.contains { $0.id == id } }
            let isWanted = job?.group.reads.contains { state.waiters[$0.id] != nil } ?? false
            return (waiter, isWanted ? nil : job)
        }
        job?.giveUp()
        if let waiter { queues.next.async { waiter.then(.cancelled) } }
    }

    /// Requests that pass caches after one that answered with the whole file.
    ///
    /// A cache that has the whole file answers all of them so: each one then costs two requests. Another one has only
    /// missed once, and is of use afterwards.
    static let mostPastCaches = 64

    /// Lets further requests pass caches.
    func passCaches() { state.withLock { $0.pastCaches = Self.mostPastCaches } }

    /// Delivers those reads of a group whose bytes have come.
    ///
    /// - Parameter body: The answer so far, from the group's first byte on.
    /// - Returns: Whether others of them still wait.
    func deliver(_ group: RangeQueue.Group, from body: [UInt8]) -> Bool {
        let come = group.range.lowerBound..<group.range.lowerBound + body.count
        let (ended, isAwaited) = state.withLock { state -> ([Ended], Bool) in
            // The first answer of a file is judged as a whole.
            guard state.pin != nil, !state.isChanged else { return ([], true) }
            let ended: [Ended] = group.reads.filter { $0.range.upperBound <= come.upperBound }.compactMap { read in
                state.waiters.removeValue(forKey: read.id).map { (read, $0) }
            }
            return (ended, group.reads.contains { state.waiters[$0.id] != nil })
        }
        for (read, waiter) in ended {
            let part = RangeEnd.bytes(.received(body)).part(read.range, of: come)
            queues.next.async { waiter.then(part) }
        }
        return isAwaited
    }

    /// Ends a request, which delivered its group's bytes, or the first part of them if the file is shorter.
    ///
    /// - Parameter refused: Reads for which there is no room: the others of the group wait again.
    func finish(
        _ job: HTTPRangeJob,
        _ end: RangeEnd,
        refused: Set<Int> = [],
        answer: (pin: RangePin, isFile: Bool, isStorable: Bool)? = nil
    ) {
        let (ended, unwanted) = state.withLock { state -> ([Ended], Unwanted?) in
            state.jobs.removeValue(forKey: ObjectIdentifier(job))
            state.resting.remove(ObjectIdentifier(job))
            if let answer, state.pin == nil {
                (state.pin, state.isStorable) = (answer.pin, answer.isStorable)
                if answer.isFile, case .bytes(let file) = end { state.file = file.array }
            } else if let answer {
                state.pin?.confirm(answer.pin)
            }
            if case .failed(_, let failure) = end, failure.cause == .changed { state.isChanged = true }
            var ended: [Ended] = []
            for var read in job.group.reads {
                if !refused.isEmpty, !refused.contains(read.id), let waiter = state.waiters[read.id] {
                    read.isDemand = waiter.client.isDemand
                    state.queue.add(read)
                } else if let waiter = state.waiters.removeValue(forKey: read.id) {
                    ended.append((read, waiter))
                }
            }
            return (ended, state.isChanged ? state.takeUnwanted() : nil)
        }
        if let unwanted { drop(unwanted) }
        for (read, waiter) in ended {
            let part = end.part(read.range, of: job.group.range)
            queues.next.async { waiter.then(part) }
        }
        begin()
    }
}

extension RangeEnd {
    /// What a read gets of its group's answer.
    fileprivate func part(_ range: Range<Int>, of whole: Range<Int>) -> RangeEnd {
        guard case .bytes(.received(let bytes)) = self, range != whole else { return self }
        let start = range.lowerBound - whole.lowerBound
        return .bytes(.received(Array(bytes[start..<start + range.count])))
    }
}
