/// What workers are busy with under the virtual clock, and when each piece of work ends.
struct VirtualWork {
    /// Work that has ended.
    struct Done {
        var job: Job
        var start: Int64
        var finish: Int64
    }

    private struct Item {
        var job: Job
        var start: Int64
        /// When it ends; for a load that shares a link, when its bytes begin to come.
        var time: Int64
        /// Orders what ends at the same moment.
        var order: Int
        /// Bytes that have to come over the link yet.
        var bytes = 0
        /// The mark on the link at which all bytes have come, once they come.
        var mark: Double?
    }

    private var items: [Item] = []
    private var order = 0
    private var link: SharedLink?

    /// - Parameter bandwidth: bytes a second that all loads share; `nil` for any number.
    init(bandwidth: Double?) { link = bandwidth.map { SharedLink(bytesPerSecond: $0) } }

    /// Workers that are busy.
    var count: Int { items.count }

    /// Begins a load.
    ///
    /// - Parameter latency: nanoseconds until it ends, or until its bytes begin to come where they share a link.
    mutating func begin(_ ticket: LoadTicket, at now: Int64, latency: Int64, bytes: Int) {
        begin(.load(ticket), at: now, takes: latency)
        if link != nil { items[items.count - 1].bytes = bytes }
    }

    /// Begins work that takes a known time.
    mutating func begin(_ job: Job, at now: Int64, takes span: Int64) {
        let (end, overflow) = now.addingReportingOverflow(max(span, 0))
        items.append(Item(job: job, start: now, time: overflow ? .max : end, order: order))
        order += 1
    }

    /// Takes out the first work that ends by a moment: the earliest, of several the one that began first.
    mutating func next(until now: Int64) -> Done? {
        guard let (index, finish) = firstEnd(until: now) else { return nil }
        let item = items.remove(at: index)
        if let mark = item.mark { link?.end(mark: mark, at: finish) }
        return Done(job: item.job, start: item.start, finish: finish)
    }

    /// Takes out loads before their end, but for those whose bytes have begun to come over a link.
    mutating func removeLoads(where isGone: (LoadTicket) -> Bool) -> [LoadTicket] {
        var gone: [LoadTicket] = []
        items.removeAll { item in
            guard item.mark == nil, case .load(let ticket) = item.job, isGone(ticket) else { return false }
            gone.append(ticket)
            return true
        }
        return gone
    }

    /// Whether anything else ends at the very moment at which something has just ended.
    mutating func hasEnd(at now: Int64) -> Bool { firstEnd(until: now) != nil }

    /// The loads with the ends that they would have if no other load began.
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
            // Bytes that begin to come before the first end slow down what is coming already.
            guard let begin, items[begin].time < first?.finish ?? .max else { return first }
            items[begin].mark = link?.begin(bytes: items[begin].bytes, at: items[begin].time)
        }
    }
}

/// A link whose bandwidth all transfers share equally.
///
/// Only sums, products and quotients: the same on every platform.
struct SharedLink {
    private let bytesPerSecond: Double
    /// Bytes that a transfer has got that has been there all along.
    private var served = 0.0
    private var transfers = 0
    private var last: Int64 = 0

    /// - Parameter bytesPerSecond: larger than 0.
    init(bytesPerSecond: Double) { self.bytesPerSecond = bytesPerSecond }

    /// Begins a transfer; the mark at which it will have ended.
    mutating func begin(bytes: Int, at now: Int64) -> Double {
        advance(to: now)
        transfers += 1
        return served + Double(bytes)
    }

    /// Ends the transfer of a mark.
    mutating func end(mark: Double, at now: Int64) {
        advance(to: now)
        // What rounding to nanoseconds took off or put on.
        served = max(served, mark)
        transfers -= 1
    }

    /// When a mark is reached if no transfer begins or ends.
    func time(of mark: Double) -> Int64 {
        let wait = ((mark - served) * Double(transfers) / bytesPerSecond * 1e9).rounded(.up)
        guard wait > 0 else { return last }
        return wait < 0x1p62 ? last.addingReportingOverflow(Int64(wait)).partialValue : .max
    }

    /// How long so many bytes would take beside the transfers under way.
    func span(ofBytes bytes: Int) -> Int64 {
        let span = (Double(bytes) * Double(transfers + 1) / bytesPerSecond * 1e9).rounded(.up)
        return span < 0x1p62 ? Int64(span) : .max
    }

    private mutating func advance(to now: Int64) {
        if transfers > 0, now > last { served += Double(now - last) / 1e9 * bytesPerSecond / Double(transfers) }
        last = max(last, now)
    }
}

/// What compressing and decompressing tiles takes under the virtual clock.
package struct CodecCost: Hashable, Sendable {
    /// Decoded bytes a second that one core compresses; larger than 0.
    package var compressBytesPerSecond: Double
    /// Decoded bytes a second that one core decompresses; larger than 0.
    package var decompressBytesPerSecond: Double
    /// Compressions and decompressions by workers at the same time; 2 unless given.
    package var cores: Int

    /// Names what was measured.
    package init(compressBytesPerSecond: Double, decompressBytesPerSecond: Double, cores: Int = 2) {
        self.compressBytesPerSecond = compressBytesPerSecond
        self.decompressBytesPerSecond = decompressBytesPerSecond
        self.cores = max(cores, 1)
    }

    /// Nanoseconds to compress so many decoded bytes.
    func compression(ofBytes bytes: Int) -> Int64 { span(bytes, compressBytesPerSecond) }

    /// Nanoseconds to decompress into so many decoded bytes.
    func decompression(ofBytes bytes: Int) -> Int64 { span(bytes, decompressBytesPerSecond) }

    private func span(_ bytes: Int, _ rate: Double) -> Int64 {
        let span = (Double(bytes) / rate * 1e9).rounded(.up)
        return span < 0x1p62 ? Int64(span) : Int64(1) << 62
    }
}
