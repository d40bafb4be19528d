/// Work under way under the virtual clock, and its ends.
struct VirtualWork {
    /// Work that has ended.
    struct Done {
        var job: Job
        var start: Int64
        var finish: Int64
    }

    private struct Item {
        var job: Job
        var hasWorker: Bool
        var start: Int64
        /// End of the work, or of the latency of a load that shares a link.
        var time: Int64
        /// Order of work with the same end.
        var order: Int
        /// Bytes to transfer over the link.
        var bytes = 0
        /// Mark of the link at the end of the transfer, once it has begun.
        var mark: Double?
    }

    private var items: [Item] = []
    private var order = 0
    private var link: SharedLink?

    /// - Parameter bandwidth: Bytes a second shared by all loads; `nil` for no limit.
    init(bandwidth: Double?) { link = bandwidth.map { SharedLink(bytesPerSecond: $0) } }

    /// Number of jobs under way.
    var count: Int { items.count }
    /// Number of busy workers.
    private(set) var workerCount = 0

    /// Begins a load.
    ///
    /// - Parameters:
    ///   - latency: Nanoseconds until it ends, or until its transfer begins if there is a link.
    ///   - hasWorker: Whether it occupies a worker. Default: true.
    mutating func begin(_ ticket: LoadTicket, at now: Int64, latency: Int64, bytes: Int, hasWorker: Bool = true) {
        begin(.load(ticket), at: now, takes: latency, hasWorker: hasWorker)
        if link != nil { items[items.count - 1].bytes = bytes }
    }

    /// Begins work of known duration.
    mutating func begin(_ job: Job, at now: Int64, takes span: Int64, hasWorker: Bool = true) {
        let (end, overflow) = now.addingReportingOverflow(max(span, 0))
        items.append(Item(job: job, hasWorker: hasWorker, start: now, time: overflow ? .max : end, order: order))
        order += 1
        if hasWorker { workerCount += 1 }
    }

    /// Removes the first work that ends by a time. The earliest end, then the earliest start.
    mutating func next(until now: Int64) -> Done? {
        guard let (index, finish) = firstEnd(until: now) else { return nil }
        let item = items.remove(at: index)
        if item.hasWorker { workerCount -= 1 }
        if let mark = item.mark { link?.end(mark: mark, at: finish) }
        return Done(job: item.job, start: item.start, finish: finish)
    }

    /// Removes loads whose transfer has not begun.
    mutating func removeLoads(where isGone: (LoadTicket) -> Bool) -> [LoadTicket] {
        var gone: [LoadTicket] = []
        items.removeAll { item in
            guard item.mark == nil, case .load(let ticket) = item.job, isGone(ticket) else { return false }
            gone.append(ticket)
            return true
        }
        workerCount = items.count { $0.hasWorker }
        return gone
    }

    /// Whether other work ends by a time.
    mutating func hasEnd(at now: Int64) -> Bool { firstEnd(until: now) != nil }

    /// Loads and their ends if no other load begins.
    func flights() -> [(key: TileKey, finish: Int64)] {
        items.compactMap { item in
            guard case .load(let ticket) = item.job else { return nil }
            guard let link, item.bytes > 0 else { return (ticket.key, item.time) }
            if let mark = item.mark { return (ticket.key, link.time(of: mark)) }
            let (finish, overflow) = item.time.addingReportingOverflow(link.span(ofBytes: item.bytes))
            return (ticket.key, overflow ? .max : finish)
        }
    }

    private mutating func firstEnd(until now: Int64) -> (index: Int, finish: Int64)? {
        while true {
            var first: (index: Int, finish: Int64)?
            var begin: Int?
            for index in items.indices {
                let item = items[index]
                if item.bytes > 0, item.mark == nil {
                    if item.time <= now, begin.map({ item.time < items[$0].time }) ?? true { begin = index }
                    continue
                }
                let finish = item.mark.flatMap { mark in link.map { $0.time(of: mark) } } ?? item.time
                guard finish <= now else { continue }
                if let best = first, (best.finish, items[best.index].order) < (finish, item.order) { continue }
                first = (index, finish)
            }
            // A transfer that begins before the first end delays the present ones.
            guard let begin, items[begin].time < first?.finish ?? .max else { return first }
            items[begin].mark = link?.begin(bytes: items[begin].bytes, at: items[begin].time)
        }
    }
}

/// A link whose bandwidth all transfers share equally. Uses only portable arithmetic.
struct SharedLink {
    private let bytesPerSecond: Double
    /// Bytes transferred by a transfer that never ends.
    private var served = 0.0
    private var transfers = 0
    private var last: Int64 = 0

    /// - Parameter bytesPerSecond: Above 0.
    init(bytesPerSecond: Double) { self.bytesPerSecond = bytesPerSecond }

    /// Begins a transfer; returns the mark of its end.
    mutating func begin(bytes: Int, at now: Int64) -> Double {
        advance(to: now)
        transfers += 1
        return served + Double(bytes)
    }

    /// Ends the transfer of a mark.
    mutating func end(mark: Double, at now: Int64) {
        advance(to: now)
        // Corrects rounding to nanoseconds.
        served = max(served, mark)
        transfers -= 1
    }

    /// Time of a mark if no transfer begins or ends.
    func time(of mark: Double) -> Int64 {
        let wait = ((mark - served) * Double(transfers) / bytesPerSecond * 1e9).rounded(.up)
        guard wait > 0 else { return last }
        return wait < 0x1p62 ? last.addingReportingOverflow(Int64(wait)).partialValue : .max
    }

    /// Duration of a transfer beside those under way.
    func span(ofBytes bytes: Int) -> Int64 {
        let span = (Double(bytes) * Double(transfers + 1) / bytesPerSecond * 1e9).rounded(.up)
        return span < 0x1p62 ? Int64(span) : .max
    }

    private mutating func advance(to now: Int64) {
        if transfers > 0, now > last { served += Double(now - last) / 1e9 * bytesPerSecond / Double(transfers) }
        last = max(last, now)
    }
}

/// Cost of compressing and decompressing tiles under the virtual clock.
package struct CodecCost: Hashable, Sendable {
    /// Decoded bytes a second that one core compresses; above 0.
    package var compressBytesPerSecond: Double
    /// Decoded bytes a second that one core decompresses; above 0.
    package var decompressBytesPerSecond: Double
    /// Maximum concurrent compressions and decompressions by workers. Default: 2.
    package var cores: Int

    /// Creates a cost from measured rates.
    package init(compressBytesPerSecond: Double, decompressBytesPerSecond: Double, cores: Int = 2) {
        self.compressBytesPerSecond = compressBytesPerSecond
        self.decompressBytesPerSecond = decompressBytesPerSecond
        self.cores = max(cores, 1)
    }

    /// Nanoseconds to compress this many decoded bytes.
    func compression(ofBytes bytes: Int) -> Int64 { span(bytes, compressBytesPerSecond) }

    /// Nanoseconds to decompress this many decoded bytes.
    func decompression(ofBytes bytes: Int) -> Int64 { span(bytes, decompressBytesPerSecond) }

    private func span(_ bytes: Int, _ rate: Double) -> Int64 {
        let span = (Double(bytes) / rate * 1e9).rounded(.up)
        return span < 0x1p62 ? Int64(span) : Int64(1) << 62
    }
}
