import CTileCurl
import TileCache

/// One job being fetched: its attempts, and the current attempt's transfer.
///
/// Used only by the loop of ``HTTPEngine``.
final class HTTPFetch {
    let job: any HTTPJob
    private let address: String
    private let kept: KeptAnswer?
    /// Validators of a stored tile, which the source does not have; they are the own address's.
    private let stored: TileStoreFreshness?
    private(set) var body: [UInt8] = []
    private(set) var attempts = 0
    /// Attempts that ended in another one at once.
    var turns = 0
    /// Address of the transfer: the job's, or the target of a redirection.
    private(set) var current = ""
    private var redirections = 0
    /// Statuses of redirections to follow.
    private var followed: [Int] = []
    /// Milliseconds at which the attempt times out.
    private(set) var deadline: Int64 = 0
    /// Milliseconds at which the transfer began.
    private(set) var begun: Int64 = 0
    /// Milliseconds at which something came.
    private(set) var heard: Int64 = 0
    /// Whether the job is no longer wanted. The transfer goes on until it is cut off.
    var isUnwanted = false
    private var isConditional = false
    /// Bytes of headers, and of bodies that are not wanted.
    private var otherBytes = 0
    /// Milliseconds at which the next attempt may start.
    var earliest: Int64 = 0
    /// The job's server. Its pace counts for what it redirects to, too.
    let origin: Origin
    /// Permission of the attempt under way, and what its end says about the server.
    var permit = OriginPace.Permit()
    private(set) var verdict = OriginPace.Verdict.unknown
    private(set) var transfer: OpaqueCurl?
    private(set) var answer = HTTPCacheHeaders()
    /// The last header line so far: a folded line continues it (RFC 9112, 5.2).
    private var headerLine: [UInt8] = []
    /// Whether all headers have come: what follows the body is ignored.
    private(set) var hasHeaders = false
    /// Seconds since 1970 at which the transfer began and its headers were complete.
    private var requested: Int64 = 0
    private var received: Int64 = 0
    /// Redirections of the attempt, which limit how long its answer is valid.
    private var hops: [(freshness: HTTPFreshness, isPermanent: Bool)] = []
    private let wallClock: @Sendable () -> Int64
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// What libcurl says of the transfer's failure, more than its code tells.
    private let said = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private let limit: Int
    private let options: HTTPTileOptions
    /// Whether the job wants the answer's body; `nil` until it begins.
    private var isWanted: Bool?
    /// Bytes that the cache counts for this job.
    private var held = 0
    /// Reason why the transfer was aborted on this side.
    private var refusal: FetchEnd?

    typealias OpaqueCurl = UnsafeMutableRawPointer

    init(_ job: any HTTPJob, _ options: HTTPTileOptions, wallClock: @escaping @Sendable () -> Int64) {
        (self.job, self.options) = (job, options)
        self.wallClock = wallClock
        (address, limit) = (job.address, job.limit)
        origin = Origin.of(address)
        kept = job.kept
        stored = kept == nil ? job.stored : nil
    }

    deinit {
        // libcurl may write there until then.
        endTransfer()
        said.deallocate()
    }

    /// Creates the transfer of the next attempt.
    func begin(_ options: HTTPTileOptions, now: Int64) -> OpaqueCurl? {
        attempts += 1
        verdict = .unknown
        redirections = 0
        followed = [301, 302, 303, 307, 308].filter { !job.isAbsence($0, options) }
        hops = []
        deadline = now + Int64(options.timeout / .milliseconds(1))
        return request(address, options, now)
    }

    /// Creates a transfer of the same attempt for the target of a redirection.
    func follow(_ target: String, _ options: HTTPTileOptions, now: Int64) -> OpaqueCurl? {
        redirections += 1
        return request(target, options, now)
    }

    private func request(_ target: String, _ options: HTTPTileOptions, _ now: Int64) -> OpaqueCurl? {
        endTransfer()
        guard let easy = curl_easy_init() else { return nil }
        current = target
        body = []
        otherBytes = 0
        begun = now
        (answer, hasHeaders, refusal, isWanted) = (HTTPCacheHeaders(), false, nil, nil)
        requested = wallClock()
        received = requested
        let mayHaveSecrets = authorize(easy)
        let context = Unmanaged.passUnretained(self).toOpaque()
        tile_curl_only_http(easy)
        tile_curl_leave_lookup(easy, 1)
        said.pointee = 0
        tile_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, said)
        tile_curl_set_text(easy, CURLOPT_URL, target)
        tile_curl_set_text(easy, CURLOPT_USERAGENT, "TileCache")
        tile_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // A proxy's answer to CONNECT says nothing of the server.
        tile_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Plain HTTP knows no version before its first answer: each transfer would wait for the one before.
        let mayShare = target.lowercased().hasPrefix("https:") && !origin.habits.isSerial
        tile_curl_share_connections(easy, mayShare ? 1 : 0)
        if let file = options.trustedCertificates { tile_curl_set_text(easy, CURLOPT_CAINFO, file) }
        tile_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout / .milliseconds(1)))
        // Streams that time out are ended by the engine, before libcurl does.
        let grace: Int64 = origin.habits.isMultiplexed ? 1000 : 0
        tile_curl_set_long(easy, CURLOPT_TIMEOUT_MS, Int(max(deadline - now, 1) + grace))
        var lines = mayHaveSecrets || options.sendsHeadersToOtherOrigins ? options.headers : []
        let tag: String?
        let date: String?
        if let kept {
            (tag, date) = kept.address == target ? (kept.entityTag, kept.lastModified) : (nil, nil)
        } else {
            (tag, date) = redirections == 0 ? (stored?.entityTag, stored?.lastModified) : (nil, nil)
        }
        isConditional = tag != nil || date != nil
        let validators = [tag.map { "If-None-Match: \($0)" }, date.map { "If-Modified-Since: \($0)" }]
        // A store may have them of another program: no control characters get into a request.
        lines += validators.compactMap(\.self).filter { $0.utf8.allSatisfy { $0 >= 32 && $0 != 127 } }
        lines += job.lines
        if !lines.contains(where: { $0.lowercased().hasPrefix("priority:") }) { lines.append(priority) }
        for line in lines { headers = curl_slist_append(headers, line) ?? headers }
        tile_curl_set_list(easy, CURLOPT_HTTPHEADER, headers)
        tile_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
        tile_curl_set_function(easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            guard let context else { return 0 }
            let fetch = Unmanaged<HTTPFetch>.fromOpaque(context).takeUnretainedValue()
            return fetch.take(UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
        }
        tile_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
        tile_curl_set_function(easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            guard let context else { return 0 }
            let fetch = Unmanaged<HTTPFetch>.fromOpaque(context).takeUnretainedValue()
            return fetch.note(UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
        }
        transfer = easy
        return easy
    }

    /// Returns whether the target has the scheme, host and port of the job's home. If so, adds user and password.
    private func authorize(_ easy: OpaqueCurl) -> Bool {
        guard current != job.home else { return true }
        guard let own = HTTPAddress(job.home), let target = HTTPAddress(current), own.origin == target.origin else {
            return false
        }
        if target.user == nil, let user = own.user {
            tile_curl_set_text(easy, CURLOPT_USERNAME, user)
            tile_curl_set_text(easy, CURLOPT_PASSWORD, own.password ?? "")
        }
        return true
    }

    /// Releases the attempt's transfer; its connection stays with the engine.
    func endTransfer() {
        if let transfer { curl_easy_cleanup(transfer) }
        curl_slist_free_all(headers)
        (transfer, headers) = (nil, nil)
    }

    /// Determines how the attempt ended. After a redirection a failure names its target's server.
    func end(_ result: CURLcode, _ options: HTTPTileOptions) -> FetchEnd {
        let end = transferEnd(result, options)
        verdict = verdict(on: result, end)
        guard redirections > 0, case .failed(let cause, let message, let mayPass, let seconds) = end,
            let server = HTTPAddress(current)?.server
        else { return end }
        // Not all of its address, which may have a key: object stores sign those that they redirect to.
        let named = "\(message) (redirected to \(server))"
        return .failed(cause, message: named, mayPass: mayPass, retryAfterSeconds: seconds)
    }

    /// Whether the last attempt says that the server should be asked less.
    var isRefused: Bool {
        switch verdict {
        case .refused, .unreachable: true
        case .answered, .unknown: false
        }
    }

    private func verdict(on result: CURLcode, _ end: FetchEnd) -> OriginPace.Verdict {
        guard let transfer else { return .unknown }
        // Also if the body of the refusal breaks off.
        if case .failed = end, [429, 503].contains(tile_curl_status(transfer)) {
            return .refused(pause: Int64(tile_curl_retry_after(transfer)) * 1000)
        }
        if result == CURLE_OK || result == CURLE_WRITE_ERROR { return .answered }
        guard case .failed(_, _, mayPass: true, _) = end, tile_curl_has_sent(transfer) == 0 else { return .unknown }
        // A stream that was not sent may have waited for others on a connection that is there.
        return origin.habits.isMultiplexed && tile_curl_used(transfer).connections == 0 ? .unknown : .unreachable
    }

    private func transferEnd(_ result: CURLcode, _ options: HTTPTileOptions) -> FetchEnd {
        if let refusal { return refusal }
        let status = transfer.map { tile_curl_status($0) } ?? 0
        let retryAfter = transfer.map { tile_curl_retry_after($0) } ?? 0
        let reason = String(cString: curl_easy_strerror(result))
        var head = HTTPAnswerHead(
            status: status,
            headers: answer,
            retryAfterSeconds: retryAfter,
            bodyCount: body.count
        )
        // What the head of an answer says counts more than that its body is cut off.
        if result != CURLE_OK, result != CURLE_WRITE_ERROR, hasHeaders, status >= 200, !followed.contains(status) {
            head.isCutOff = true
            let end = jobEnd(head)
            if case .failed(.truncated, _, _, _) = end {} else if end != .delivered || job.knowsItsBytes { return end }
        }
        switch result {
        // Unread parts of an answer that is not wanted do not matter.
        case CURLE_OK, CURLE_WRITE_ERROR:
            let target = transfer.flatMap { tile_curl_redirection($0) }.map { String(cString: $0) }
            if let target, followed.contains(status) {
                hops.append((ownFreshness(options), status == 301 || status == 308))
                return RetryRule.end(redirectedTo: target, number: redirections + 1)
            }
            return jobEnd(head)
        // What came is no answer: often it belongs to the answer before it on the connection, which is closed now.
        case CURLE_UNSUPPORTED_PROTOCOL where HTTPAddress(current) != nil:
            return .failed(.connection, message: "\(reason): an answer of HTTP was expected", mayPass: true)
        // A libcurl without TLS parses no address of https.
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return .failed(.connection, message: reason, mayPass: false)
        // The code says neither that a certificate has expired nor that it is another server's.
        case CURLE_PEER_FAILED_VERIFICATION where said.pointee != 0:
            return .failed(.connection, message: String(cString: said), mayPass: true)
        case CURLE_OPERATION_TIMEDOUT: return .failed(.timeOut, message: reason, mayPass: true)
        case CURLE_PARTIAL_FILE where hasHeaders: return .failed(.truncated, message: reason, mayPass: true)
        // The connection ended between two chunks, or while a byte was expected: truncated if there was any byte. Streams of
        // a connection that has ended count as partial files, also before their first byte.
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return .failed(body.isEmpty ? .connection : .truncated, message: reason, mayPass: true)
        // libcurl itself refuses a line of more than 100 KiB: as CURLE_TOO_LARGE, which is 100, from 8.6 on.
        case CURLE_OUT_OF_MEMORY where otherBytes > 0 && !hasHeaders, CURLcode(rawValue: 100) where !hasHeaders:
            return Self.tooManyHeaders
        default: return .failed(.connection, message: reason, mayPass: true)
        }
    }

    private func jobEnd(_ head: HTTPAnswerHead) -> FetchEnd {
        let end = job.end(head, options)
        guard end == .notModified, !isConditional else { return end }
        return .failed(.status, message: "the status 304 was not asked for", mayPass: false)
    }

    /// Until when the answer is valid, with the redirections on the way to it.
    func freshness(_ options: HTTPTileOptions, isConfirmed: Bool = false) -> HTTPFreshness {
        var freshness = ownFreshness(options, confirming: isConfirmed ? kept?.freshness ?? stored : nil)
        for hop in hops { freshness.limit(by: hop.freshness, isPermanent: hop.isPermanent) }
        return freshness
    }

    private func ownFreshness(_ options: HTTPTileOptions, confirming: TileStoreFreshness? = nil) -> HTTPFreshness {
        HTTPFreshness(
            answer,
            requested: requested,
            received: received,
            usesStale: options.usesStale.components.seconds,
            confirming: confirming
        )
    }

    /// The received tile.
    ///
    /// Stores are given its validators only if it came from the tile's own address, so that those of a stored tile are
    /// always valid there.
    func keptAnswer(_ options: HTTPTileOptions) -> KeptAnswer {
        let freshness = freshness(options)
        let isOwn = redirections == 0
        return KeptAnswer(
            entityTag: answer.entityTag,
            lastModified: answer.lastModified,
            bytes: body,
            address: current,
            freshness: freshness.stored(
                entityTag: isOwn ? answer.entityTag : nil,
                lastModified: isOwn ? answer.lastModified : nil
            ),
            isStorable: freshness.isStorable,
            isExplicit: freshness.isExplicit
        )
    }

    /// The kept answer, which the server has confirmed; `nil` if there is none.
    func confirmedAnswer(_ options: HTTPTileOptions) -> KeptAnswer? {
        guard var kept else { return nil }
        let freshness = freshness(options, isConfirmed: true)
        kept.isStorable = freshness.isStorable
        kept.isExplicit = freshness.isExplicit
        kept.freshness = freshness.stored(
            entityTag: kept.freshness.entityTag,
            lastModified: kept.freshness.lastModified
        )
        return kept
    }

    /// Drops the received bytes.
    func dropBody() {
        body = []
        hold(0)
    }

    private func hold(_ bytes: Int) {
        guard held != bytes, job.holds(bytes) else { return }
        held = bytes
    }

    private func take(_ data: UnsafeRawBufferPointer) -> Bool {
        heard = HTTPEngine.now
        // The body of an error is not used; a short one is read so that the connection can be reused.
        let status = transfer.map { tile_curl_status($0) } ?? 0
        let isWanted = isWanted ?? job.wants(HTTPAnswerHead(status: status, headers: answer))
        self.isWanted = isWanted
        // libcurl tells where a redirection leads once its body has ended: it is read to its end, within the attempt's
        // time.
        if !isWanted, answer.hasLocation, followed.contains(status) { return true }
        guard isWanted else { return takeOther(data.count) }
        let needed = body.count + data.count
        guard needed <= limit else {
            let head = HTTPAnswerHead(status: status, headers: answer, bodyCount: needed)
            // A file that comes as a whole in place of a range may be a cache's: the job knows.
            let end = RetryRule.isDelivery(status) ? job.end(head, options) : .delivered
            let tooLarge = FetchEnd.failed(.tooLarge, message: "more than \(limit) bytes came", mayPass: false)
            refusal = end == .delivered ? tooLarge : end
            return false
        }
        if needed > held {
            // In steps, because each step asks the cache.
            hold(max(needed, min(held * 2, limit), 16_384))
            guard held >= needed else {
                refusal = .failed(.noRoom, message: "the cache has no room for \(needed) encoded bytes", mayPass: false)
                return false
            }
        }
        body.append(contentsOf: data)
        job.came(body)
        return true
    }

    /// Limit for headers and for bodies that are not wanted.
    private static let otherLimit = 65_536
    private static var tooManyHeaders: FetchEnd {
        .failed(.tooLarge, message: "more than \(otherLimit) bytes of headers came", mayPass: false)
    }

    private func takeOther(_ count: Int) -> Bool {
        otherBytes += count
        return otherBytes <= Self.otherLimit
    }

    private func note(_ line: UnsafeRawBufferPointer) -> Bool {
        heard = HTTPEngine.now
        guard takeOther(line.count) else {
            refusal = Self.tooManyHeaders
            return false
        }
        // A new status line: headers restart after an interim answer.
        if line.starts(with: "HTTP/".utf8) {
            let isMultiplexed = line.starts(with: "HTTP/2".utf8)
            // The target of a redirection is another server.
            if redirections == 0 { origin.learn { $0.note(isMultiplexed: isMultiplexed) } }
            (answer, headerLine, hasHeaders) = (HTTPCacheHeaders(), [], false)
        } else if hasHeaders {
            return true
        } else if line.allSatisfy({ $0 == 13 || $0 == 10 }) {
            headerLine.withUnsafeBytes { answer.note($0) }
            hasHeaders = true
            received = wallClock()
        } else if line[0] == 32 || line[0] == 9 {
            headerLine += line
        } else {
            headerLine.withUnsafeBytes { answer.note($0) }
            headerLine = Array(line)
        }
        return true
    }
}
