import CTileCurl
import Dispatch
import TileCache

/// Event loop that fetches: one thread, and libcurl's multi interface.
///
/// With HTTP/2 up to 32 transfers share a connection, and libcurl opens another one for more, or if the server allows fewer
/// streams. Otherwise each transfer takes a connection, or waits for one: there are at most ``HTTPTileOptions/connections``
/// of these. Requests beyond that wait here, where those that a view needs start first.
///
/// The loop runs while there are jobs. Each thread that waits in it is one fewer for all queues of the process.
///
/// Unchecked: `mail` has a lock; the rest below it belongs to the loop.
final class HTTPEngine: @unchecked Sendable {
    /// Messages of other threads to the loop.
    private struct Mail {
        var jobs: [any HTTPJob] = []
        /// The jobs themselves: the address of an ended job may be another's.
        var unwanted: [any HTTPJob] = []
        var isStopped = false
        /// Whether the loop runs or is about to.
        var isRunning = false
    }

    private let mail = Lock(Mail())
    /// The loop's; serial, so that one run ends before the next begins.
    private let queue = DispatchQueue(label: "TileSources.http")
    private let multi: UnsafeMutableRawPointer
    private let options: HTTPTileOptions
    private let counter: SourceCounter
    private let rule: RetryRule
    let wallClock: @Sendable () -> Int64

    /// Fetches waiting for a connection or for their time, in order of arrival.
    private var waiting: [HTTPFetch] = []
    private var active: [UnsafeMutableRawPointer: HTTPFetch] = [:]
    /// Milliseconds at which something came from an origin, of the transfers that have ended.
    private var heard: [ObjectIdentifier: Int64] = [:]
    /// Milliseconds at which look-ups of hosts were left to their threads, in the last half minute.
    private var lookups: [Int64] = []
    private static let mostLookups = 32

    /// Run once, before the first engine; libcurl may then be used from any thread.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Creates an engine; `nil` if libcurl cannot start.
    init?(
        _ options: HTTPTileOptions,
        counter: SourceCounter,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        guard Self.isReady, let multi = curl_multi_init() else { return nil }
        // For lack of file descriptors libcurl begins without what wakes it: jobs would wait for up to a minute.
        guard curl_multi_wakeup(multi) == CURLM_OK else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.multi = multi
        self.options = options
        self.counter = counter
        self.wallClock = wallClock
        rule = RetryRule(retries: options.retries, backOff: Int(options.backOff / .milliseconds(1)))
        tile_curl_limit_connections(multi, options.connections)
    }

    /// Accepts a job, from any thread.
    func add(_ job: any HTTPJob) {
        let (isStopped, wasRunning) = mail.withLock { mail -> (Bool, Bool) in
            guard !mail.isStopped else { return (true, true) }
            defer { mail.isRunning = true }
            mail.jobs.append(job)
            return (false, mail.isRunning)
        }
        guard !isStopped else { return job.cancel() }
        job.onCancel { [weak self, weak job] in
            guard let self, let job else { return }
            // Without the loop there is no job.
            mail.withLock { if $0.isRunning { $0.unwanted.append(job) } }
            curl_multi_wakeup(multi)
        }
        if wasRunning { curl_multi_wakeup(multi) } else { queue.async { self.run() } }
    }

    /// Ends the loop and its transfers without waiting.
    func stop() {
        mail.withLock { $0.isStopped = true }
        curl_multi_wakeup(multi)
    }

    deinit { tile_curl_without_pipe_signal({ curl_multi_cleanup($0) }, multi) }

    private func run() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        tile_curl_without_pipe_signal(
            { context in
                guard let context else { return }
                Unmanaged<HTTPEngine>.fromOpaque(context).takeUnretainedValue().loop()
            },
            context
        )
    }

    private func loop() {
        while takeMail() {
            begin()
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            finishTransfers()
            endLateStreams()
            cutOffUnwanted()
            begin()
            if isIdle {
                heard = [:]
                continue
            }
            // New mail wakes it; libcurl has its own timers.
            curl_multi_poll(multi, nil, 0, Int32(clamping: pause()), nil)
        }
    }

    private var isIdle: Bool { waiting.isEmpty && active.isEmpty }

    /// Reads the mail; returns whether the loop continues.
    private func takeMail() -> Bool {
        let news = mail.withLock { mail -> Mail in
            defer { (mail.jobs, mail.unwanted) = ([], []) }
            if mail.isStopped || (isIdle && mail.jobs.isEmpty) { mail.isRunning = false }
            return mail
        }
        for job in news.jobs { waiting.append(HTTPFetch(job, options, wallClock: wallClock)) }
        if !news.unwanted.isEmpty {
            let unwanted = Set(news.unwanted.map { ObjectIdentifier($0) })
            for fetch in active.values where unwanted.contains(ObjectIdentifier(fetch.job)) { fetch.isUnwanted = true }
            for fetch in waiting where unwanted.contains(ObjectIdentifier(fetch.job)) { fetch.job.cancel() }
            waiting.removeAll { unwanted.contains(ObjectIdentifier($0.job)) }
        }
        if news.isStopped {
            for fetch in waiting + active.values { giveUp(fetch) }
            (waiting, active) = ([], [:])
        }
        return news.isRunning
    }

    /// Starts due fetches as far as connections are free, those that a view needs first.
    private func begin() {
        let now = Self.now
        var free = freeConnections
        while free > 0 {
            let ready = waiting.indices.filter { waiting[$0].earliest <= now }
            guard let index = ready.first(where: { waiting[$0].job.isDemand }) ?? ready.first else { return }
            guard mayStart(waiting[index], at: index, now: now) else { continue }
            let fetch = waiting.remove(at: index)
            fetch.permit = fetch.origin.begin(now: now)
            counter.count {
                $0.attempts += 1
                if fetch.attempts > 0 { $0.retries += 1 }
            }
            start(fetch, fetch.begin(options, now: now))
            free -= 1
        }
    }

    /// Connections that no transfer takes or waits for.
    private var freeConnections: Int { options.connections - active.values.count { !$0.isStream } }

    /// Time for which a fetch waits here for its server. For a longer one its job ends, so that no worker waits.
    private static let patience: Int64 = 250

    /// Whether a fetch may start. If not, it waits, or is removed and its job ended.
    private func mayStart(_ fetch: HTTPFetch, at index: Int, now: Int64) -> Bool {
        let earliest = fetch.origin.earliest(now: now, isDemand: fetch.job.isDemand)
        guard earliest > now else { return true }
        let wait = earliest - now
        if wait <= (fetch.job.isOpening ? Int64(RetryRule.longestOpening) * 1000 : Self.patience) {
            fetch.earliest = earliest
        } else {
            waiting.remove(at: index)
            postpone(fetch, now: now)
        }
        return false
    }

    /// Ends a job that is to be repeated once its server may be asked.
    private func postpone(_ fetch: HTTPFetch, now: Int64) {
        let wait = max(fetch.origin.earliest(now: now, isDemand: fetch.job.isDemand) - now, 0)
        counter.count { $0.postponed += 1 }
        fetch.job.finish(fetch, .postponed(milliseconds: wait), options)
    }

    private func start(_ fetch: HTTPFetch, _ transfer: UnsafeMutableRawPointer?) {
        guard let transfer, curl_multi_add_handle(multi, transfer) == CURLM_OK else {
            fetch.endTransfer()
            return end(fetch, .failed(.connection, message: "libcurl cannot begin", mayPass: true))
        }
        active[transfer] = fetch
    }

    private func finishTransfers() {
        var result = CURLE_OK
        while let easy = tile_curl_ended(multi, &result) {
            curl_multi_remove_handle(multi, easy)
            guard let fetch = active.removeValue(forKey: easy) else { continue }
            let outcome = fetch.end(result, options)
            settle(fetch, isWhole: result == CURLE_OK)
            if case .redirected(let target) = outcome, !fetch.isUnwanted {
                start(fetch, fetch.follow(target, options, now: Self.now))
                continue
            }
            fetch.endTransfer()
            end(fetch, outcome)
        }
    }

    private func end(_ fetch: HTTPFetch, _ outcome: FetchEnd) {
        let now = Self.now
        fetch.origin.end(fetch.permit, fetch.verdict, now: now, first: Int64(rule.backOff))
        if fetch.isUnwanted {
            switch outcome {
            case .delivered where fetch.job.isKeptUnwanted, .notModified, .absent: break
            case .delivered, .redirected, .failed, .postponed:
                counter.count { $0.cancelledBytes += .bytes(fetch.body.count) }
                return fetch.job.cancel()
            }
        }
        if case .failed = outcome, fetch.job.asksAnew() {
            fetch.dropBody()
            fetch.turns += 1
            return waiting.append(fetch)
        }
        if case .failed(let cause, let message, _, _) = outcome {
            counter.count(TileLoadFailure(cause, message), of: fetch.job.name)
            fetch.dropBody()
            if fetch.isRefused, !fetch.job.isOpening { return postpone(fetch, now: now) }
            if let wait = rule.wait(
                after: outcome,
                attempts: fetch.attempts - fetch.turns,
                isOpening: fetch.job.isOpening,
                dice: .random(in: 0...1)
            ) {
                fetch.earliest = now + Int64(wait)
                waiting.append(fetch)
                return fetch.job.rest()
            }
        }
        fetch.job.finish(fetch, outcome, options)
    }

    /// Counts what a transfer has used, and learns from a whole answer.
    private func settle(_ fetch: HTTPFetch, isWhole: Bool) {
        guard let transfer = fetch.transfer else { return }
        heard.merge([ObjectIdentifier(fetch.origin): fetch.heard], uniquingKeysWith: max)
        let used = tile_curl_used(transfer)
        let isStream = fetch.isStream
        counter.count {
            $0.connections += used.connections
            if isStream { $0.streams += 1 }
        }
        guard isWhole else { return }
        let sample = OriginHabits.Sample(
            handshake: used.connections > 0 ? used.handshake : nil,
            latency: used.latency,
            body: used.body,
            bytes: fetch.body.count
        )
        fetch.origin.learn { $0.note(sample) }
    }

    /// Ends streams that have timed out. If their server has sent nothing since, on any stream, the connection is dead: all
    /// that use it end, and it is closed. libcurl would give it to further requests.
    private func endLateStreams() {
        let now = Self.now
        while let late = active.values.first(where: { $0.isLateStream(now) }) {
            let others = active.values.filter { $0.origin === late.origin }
            let isDead = others.map(\.heard).reduce(heard[ObjectIdentifier(late.origin)] ?? 0, max) < late.begun
            for fetch in isDead ? others : [late] {
                guard let transfer = fetch.transfer else { continue }
                settle(fetch, isWhole: false)
                tile_curl_set_long(transfer, CURLOPT_FORBID_REUSE, isDead ? 1 : 0)
                curl_multi_remove_handle(multi, transfer)
                active.removeValue(forKey: transfer)
                fetch.endTransfer()
                let what = isDead ? "Its connection has brought nothing in the time" : "Timeout was reached"
                end(fetch, .failed(.timeOut, message: what, mayPass: true))
            }
        }
    }

    /// Cuts off unwanted answers, as far as that is worth it.
    private func cutOffUnwanted() {
        let now = Self.now
        for fetch in active.values where fetch.isUnwanted && fetch.allowance(now: now) <= 0 {
            if let transfer = fetch.transfer, tile_curl_has_sent(transfer) != 0 {
                counter.count {
                    $0.cutOff += 1
                    $0.cancelledBytes += .bytes(fetch.body.count)
                }
                fetch.origin.learn { $0.noteCut() }
            }
            giveUp(fetch)
        }
    }

    private func giveUp(_ fetch: HTTPFetch) {
        if let easy = fetch.transfer {
            settle(fetch, isWhole: false)
            if tile_curl_is_looking_up(easy) != 0, !mayLeaveLookup() { tile_curl_leave_lookup(easy, 0) }
            curl_multi_remove_handle(multi, easy)
            active.removeValue(forKey: easy)
            fetch.origin.end(fetch.permit, .unknown, now: Self.now, first: 0)
        }
        fetch.endTransfer()
        fetch.job.cancel()
    }

    /// Whether one more look-up may be left to its thread. A view in motion would else have any number of them.
    private func mayLeaveLookup() -> Bool {
        let now = Self.now
        lookups.removeAll { $0 < now - 30_000 }
        guard lookups.count < Self.mostLookups else { return false }
        lookups.append(now)
        return true
    }

    /// Milliseconds until the next fetch may start or is cut off, if nothing else happens.
    private func pause() -> Int64 {
        let now = Self.now
        let next = freeConnections > 0 ? waiting.map(\.earliest).min() ?? .max : .max
        let cut = active.values.filter(\.isUnwanted).map { $0.allowance(now: now) }.min() ?? .max
        let late = active.values.filter(\.isStream).map(\.deadline).min() ?? .max
        return min(max(min(next, late) - now, 0), max(cut, 0), 60_000)
    }

    /// The current time in milliseconds.
    static var now: Int64 { MonotonicTime.now.nanoseconds / 1_000_000 }
}
