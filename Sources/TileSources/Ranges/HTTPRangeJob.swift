import TileCache

/// One request for a group of reads. It is asked again in another way if ``RangeRule`` says so.
final class HTTPRangeJob: HTTPJob {
    let group: RangeQueue.Group
    private let ranges: HTTPRanges
    private let clients: [RangeClient]
    private let begun = HTTPRanges.now

    private struct State {
        /// What the next request asks.
        var question: RangeQuestion
        /// Whether it asks caches to pass it on.
        var isPastCaches: Bool
        /// Whether it has done so at once, in place of a failure.
        var hasPassed = false
        var asksAnew = false
        /// The file of the last answer that was accepted, and whether it was all of it.
        var answer: (pin: RangePin, isFile: Bool)?
        /// Whether the bytes of the present answer are the group's, from the first one on.
        var isPart = false
        /// Whether the first bytes of the first attempt's answer are still to come.
        var isFirst = true
        var isHeld = false
        var isUnwanted = false
        /// Reads for which there is no room.
        var refused: Set<Int> = []
        var handler: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    init(
        _ ranges: HTTPRanges,
        _ group: RangeQueue.Group,
        _ clients: [RangeClient],
        _ question: RangeQuestion,
        isPastCaches: Bool = false
    ) {
        (self.ranges, self.group, self.clients) = (ranges, group, clients)
        state = Lock(State(question: question, isPastCaches: isPastCaches))
    }

    var address: String { ranges.address }
    var name: String { ranges.name(of: group.range) }
    /// Reads may be raised while the request waits for its next attempt.
    var isDemand: Bool { ranges.isDemand(group) }
    var isOpening: Bool { clients.contains(where: \.isOpening) }
    var limit: Int { group.range.count }
    /// The number of bytes is known.
    var knowsItsBytes: Bool { true }

    /// Ranges of a coded file would be other bytes.
    var lines: [String] {
        let (range, isPastCaches) = state.withLock { ($0.question.range, $0.isPastCaches) }
        let lines = ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)", "Accept-Encoding: identity"]
        return isPastCaches ? lines + ["Cache-Control: no-cache"] : lines
    }

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
    ///
    /// If there is no room for one, the request ends: the bytes of a group are in memory together.
    func holds(_ bytes: Int) -> Bool {
        let isHeld = bytes > 0
        let isNew = state.withLock { state -> Bool in
            defer { state.isHeld = isHeld }
            return state.isHeld != isHeld
        }
        guard isNew else { return true }
        var refused: Set<Int> = []
        // Reads that were cancelled no longer count, and those that have ended count for themselves.
        for (read, client) in zip(group.reads, clients) where ranges.isWaiting(read.id) {
            if !client.hold(isHeld ? read.range.count : 0), ranges.isWaiting(read.id) { refused.insert(read.id) }
        }
        guard !refused.isEmpty else { return true }
        for (read, client) in zip(group.reads, clients) where !refused.contains(read.id) && ranges.isWaiting(read.id) {
            _ = client.hold(0)
        }
        state.withLock { state in
            state.isHeld = false
            state.refused = refused
        }
        return false
    }

    func wants(_ answer: HTTPAnswerHead) -> Bool {
        let question = state.withLock { $0.question }
        let verdict = RangeRule.verdict(answer, to: question, isWhole: false)
        if case .refused = verdict {
            state.withLock { $0.isPart = false }
            return false
        }
        let isFirst = state.withLock { state -> Bool in
            if case .part = verdict { state.isPart = question.pin != nil } else { state.isPart = false }
            defer { state.isFirst = false }
            return state.isFirst
        }
        if isFirst { ranges.note(latency: HTTPRanges.now - begun) }
        return true
    }

    func came(_ body: [UInt8]) {
        guard group.reads.count > 1, state.withLock({ $0.isPart }) else { return }
        let isAwaited = ranges.deliver(group, from: body)
        // The others were cancelled meanwhile.
        if !isAwaited, body.count < group.range.count { giveUp() }
    }

    func end(_ answer: HTTPAnswerHead, _ options: HTTPTileOptions) -> FetchEnd {
        let question = state.withLock { $0.question }
        let verdict = RangeRule.verdict(answer, to: question, isWhole: true)
        switch verdict {
        case .part(let pin): state.withLock { $0.answer = (pin, false) }
        case .file(let pin): state.withLock { $0.answer = (pin, true) }
        case .refused(let cause, let message, let retry): return refused(cause, message, retry)
        }
        return .delivered
    }

    private func refused(_ cause: TileLoadFailureCause, _ message: String, _ retry: RangeRetry) -> FetchEnd {
        switch retry {
        case .never: return .failed(cause, message: message, mayPass: false)
        case .later(let seconds):
            return .failed(cause, message: message, mayPass: true, retryAfterSeconds: seconds)
        case .pastCaches:
            ranges.passCaches()
            state.withLock { state in
                state.asksAnew = !state.hasPassed
                (state.isPastCaches, state.hasPassed) = (true, true)
            }
            return .failed(cause, message: message, mayPass: true)
        case .shorter:
            state.withLock { state in
                state.question.range = 0..<state.question.least
                state.asksAnew = true
            }
            return .failed(cause, message: message, mayPass: false)
        }
    }

    func asksAnew() -> Bool {
        state.withLock { state in
            defer { state.asksAnew = false }
            return state.asksAnew
        }
    }

    func rest() {
        state.withLock { $0.isFirst = false }
        ranges.rest(self)
    }

    func finish(_ fetch: HTTPFetch, _ end: FetchEnd, _ options: HTTPTileOptions) {
        if case .postponed(let wait) = end {
            let failure = TileLoadFailure(.status, RetryRule.pause)
            return ranges.finish(self, .failed(.postponed(retryAfter: .milliseconds(wait)), failure))
        }
        guard case .failed(let cause, let message, let mayPass, let seconds) = end else {
            let answer = state.withLock { $0.answer }.map { answer in
                (pin: answer.pin, isFile: answer.isFile, isStorable: fetch.freshness(options).isStorable)
            }
            return ranges.finish(self, .bytes(.received(fetch.body)), answer: answer)
        }
        let failure = RetryRule.failure(cause, mayPass: mayPass, retryAfterSeconds: seconds)
        let end = RangeEnd.failed(failure, TileLoadFailure(cause, message))
        ranges.finish(self, end, refused: cause == .noRoom ? state.withLock { $0.refused } : [])
    }

    func cancel() { ranges.finish(self, .cancelled) }
}
