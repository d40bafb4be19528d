import Dispatch
import Synchronization
import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Byte ranges of a file on a web server.
final class HTTPRanges: Sendable {
    private struct Waiter {
        var client: RangeClient
        var then: @Sendable (RangeEnd) -> Void
    }

    private struct State {
        var queue = RangeQueue()
        /// Reads that are waiting or being fetched.
        var waiters: [Int: Waiter] = [:]
        /// Requests in flight.
        var jobs: [ObjectIdentifier: HTTPRangeJob] = [:]
        var nextID = 0
        /// `nil` until the first answer.
        var pin: RangePin?
        var isChanged = false
        var isStorable = true
    }

    let address: String
    private let options: HTTPTileOptions
    private let engine: HTTPEngine
    private let queues = DecodeQueues()
    private let state = Lock(State())

    /// Sends nothing yet; `nil` if libcurl cannot start.
    init?(_ address: String, _ options: HTTPTileOptions, counter: SourceCounter) {
        guard let engine = HTTPEngine(options, counter: counter, wallClock: { Int64(time(nil)) }) else { return nil }
        (self.address, self.options, self.engine) = (address, options, engine)
    }

    /// The file that was opened; `nil` before the first answer.
    var pin: RangePin? { state.withLock { $0.pin } }
    var isChanged: Bool { state.withLock { $0.isChanged } }
    /// Whether the server lets stores keep the file.
    var isStorable: Bool { state.withLock { $0.isStorable } }

    /// Reads a range. The first read is to end before the next begins.
    func read(
        _ range: Range<Int>,
        for client: RangeClient,
        then: @escaping @Sendable (RangeEnd) -> Void
    ) -> @Sendable () -> Void {
        let (id, isChanged) = state.withLock { state -> (Int, Bool) in
            state.nextID += 1
            guard !state.isChanged else { return (state.nextID, true) }
            state.queue.add(RangeQueue.Read(id: state.nextID, range: range, isDemand: client.isDemand))
            state.waiters[state.nextID] = Waiter(client: client, then: then)
            return (state.nextID, false)
        }
        guard !isChanged else {
            let end = RangeEnd.failed(.permanent, TileLoadFailure(.changed, RangeRule.changed))
            queues.next.async { then(end) }
            return {}
        }
        begin()
        return { [weak self] in self?.cancel(id) }
    }

    func stop() { engine.stop() }

    deinit { engine.stop() }

    /// Whether a read has neither ended nor been given up.
    func isWaiting(_ id: Int) -> Bool { state.withLock { $0.waiters[id] != nil } }

    /// Sends requests as long as there are reads and free connections.
    private func begin() {
        while true {
            let job = state.withLock { state -> HTTPRangeJob? in
                guard state.jobs.count < options.connections, let group = state.queue.next() else { return nil }
                let clients = group.reads.compactMap { state.waiters[$0.id]?.client }
                let job = HTTPRangeJob(self, group, clients, pin: state.pin)
                state.jobs[ObjectIdentifier(job)] = job
                return job
            }
            guard let job else { return }
            engine.add(job)
        }
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

    /// Ends a request; `bytes` are those of its group, or of its first part if the file is shorter.
    func finish(_ job: HTTPRangeJob, _ end: RangeEnd, _ answer: (pin: RangePin, isStorable: Bool)? = nil) {
        let (waiters, hopeless) = state.withLock { state -> ([(RangeQueue.Read, Waiter)], [Waiter]) in
            state.jobs.removeValue(forKey: ObjectIdentifier(job))
            if state.pin == nil, let answer { (state.pin, state.isStorable) = (answer.pin, answer.isStorable) }
            if case .failed(_, let failure) = end, failure.cause == .changed { state.isChanged = true }
            let ended = job.group.reads.compactMap { read in
                state.waiters.removeValue(forKey: read.id).map { (read, $0) }
            }
            // Of a file that has changed nothing more is requested.
            var hopeless: [Waiter] = []
            while state.isChanged, let group = state.queue.next() {
                hopeless += group.reads.compactMap { state.waiters.removeValue(forKey: $0.id) }
            }
            return (ended, hopeless)
        }
        for waiter in hopeless {
            let end = RangeEnd.failed(.permanent, TileLoadFailure(.changed, RangeRule.changed))
            queues.next.async { waiter.then(end) }
        }
        for (read, waiter) in waiters {
            let part = end.part(read.range, of: job.group.range)
            queues.next.async { waiter.then(part) }
        }
        begin()
    }
}

extension RangeEnd {
    /// What a read gets of its group's answer.
    fileprivate func part(_ range: Range<Int>, of whole: Range<Int>) -> RangeEnd {
        guard case .bytes(let bytes) = self, range != whole else { return self }
        let start = range.lowerBound - whole.lowerBound
        return .bytes(Array(bytes[start..<start + range.count]))
    }
}

/// One request for a group of reads.
final class HTTPRangeJob: HTTPJob {
    let group: RangeQueue.Group
    private let ranges: HTTPRanges
    private let clients: [RangeClient]
    private let pin: RangePin?

    private struct State {
        var isHeld = false
        var isUnwanted = false
        var handler: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    init(_ ranges: HTTPRanges, _ group: RangeQueue.Group, _ clients: [RangeClient], pin: RangePin?) {
        (self.ranges, self.group, self.clients, self.pin) = (ranges, group, clients, pin)
    }

    var address: String { ranges.address }
    var name: String { "\(address): bytes \(group.range.lowerBound)-\(group.range.upperBound - 1)" }
    var isDemand: Bool { clients.contains(where: \.isDemand) }
    var limit: Int { group.range.count }
    var lines: [String] { ["Range: bytes=\(group.range.lowerBound)-\(group.range.upperBound - 1)"] }
    var kept: KeptAnswer? { nil }
    var stored: TileStoreFreshness? { nil }

    func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isUnwanted = state.withLock { state -> Bool in
            state.handler = handler
            return state.isUnwanted
        }
        if isUnwanted { handler() }
    }

    /// Ends the request early.
    func giveUp() {
        let handler = state.withLock { state -> (@Sendable () -> Void)? in
            state.isUnwanted = true
            return state.handler
        }
        handler?()
    }

    /// Counts each read with all of its bytes as soon as the first ones come.
    func holds(_ bytes: Int) -> Bool {
        let isHeld = bytes > 0
        let isNew = state.withLock { state -> Bool in
            defer { state.isHeld = isHeld }
            return state.isHeld != isHeld
        }
        guard isNew else { return true }
        var hasRoom = true
        for (read, client) in zip(group.reads, clients) where !client.hold(isHeld ? read.range.count : 0) {
            // A read that has been given up counts no more.
            if ranges.isWaiting(read.id) { hasRoom = false }
        }
        if !hasRoom { state.withLock { $0.isHeld = false } }
        return hasRoom
    }

    func wants(_ answer: HTTPAnswerHead) -> Bool {
        RangeRule.end(answer, asked: group.range, pin: pin, isWhole: false) == .delivered
    }

    func end(_ answer: HTTPAnswerHead, _ options: HTTPTileOptions) -> FetchEnd {
        RangeRule.end(answer, asked: group.range, pin: pin, isWhole: true)
    }

    func finish(_ fetch: HTTPFetch, _ end: FetchEnd, _ options: HTTPTileOptions) {
        guard case .failed(let cause, let message, let mayPass, _) = end else {
            let size = fetch.answer.contentRange.flatMap { ContentRange($0)?.size } ?? 0
            let isStorable = fetch.freshness(options).isStorable
            return ranges.finish(self, .bytes(fetch.body), (RangePin(fetch.answer, size: size), isStorable))
        }
        let isForGood = !mayPass && cause != .noRoom
        let failure = TileLoadFailure(cause, message)
        ranges.finish(self, .failed(isForGood ? .permanent : .transient(retryAfter: .seconds(1)), failure))
    }

    func cancel() { ranges.finish(self, .cancelled) }
}
