/// The header `Content-Range` of an answer with one range (RFC 9110, 14.4).
struct ContentRange: Equatable {
    var range: Range<Int>
    /// Bytes of the whole file; `nil` if the server does not say.
    var size: Int?

    init(_ range: Range<Int>, of size: Int?) { (self.range, self.size) = (range, size) }

    /// Parses `bytes 0-99/1234` or `bytes 0-99/*`. `nil` for other text, for ranges that are empty or beyond the size,
    /// and for numbers from 2^62.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        if parts[1] != "*" {
            guard let number = Self.number(parts[1]), last < number else { return nil }
            size = number
        }
        range = first..<last + 1
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text).flatMap { $0 < 1 << 62 ? $0 : nil }
    }
}

/// What identifies a file on a server while it is open.
struct RangePin: Equatable {
    var entityTag: String?
    var lastModified: String?
    var size: Int

    /// Whether an answer may be from another file.
    ///
    /// Sizes must be equal, and so must be the `ETag`, or `Last-Modified` if either has no `ETag`. An answer without any
    /// validator is another file's if there was one.
    func isOther(_ answer: RangePin) -> Bool {
        guard size == answer.size else { return true }
        if let entityTag, let other = answer.entityTag { return entityTag != other }
        if let lastModified, let other = answer.lastModified { return lastModified != other }
        return entityTag != nil || lastModified != nil
    }
}

/// Whether an answer has the bytes that were asked for. Pure, so that it can be tested without a server.
enum RangeRule {
    static let changed = "the file has changed since it was opened; open it again"

    /// Determines how an answer ends.
    ///
    /// - Parameters:
    ///   - asked: The range of the request. The first one may reach beyond the end.
    ///   - pin: The file that was opened; `nil` for the first request.
    ///   - isWhole: Whether all of the body has come.
    static func end(_ answer: HTTPAnswerHead, asked: Range<Int>, pin: RangePin?, isWhole: Bool) -> FetchEnd {
        func refused(_ cause: TileLoadFailureCause, _ message: String) -> FetchEnd {
            .failed(cause, message: message, mayPass: false)
        }
        let headers = answer.headers
        switch answer.status {
        case 206: break
        case let status where RetryRule.isDelivery(status):
            return refused(.range, "the server ignores Range: a part with the status 206 was expected")
        case 416: return refused(pin == nil ? .range : .changed, pin == nil ? "the file is empty" : changed)
        case 304: return refused(.status, "the status 304 was not asked for")
        case let status:
            return RetryRule.end(status: status, absentStatuses: [], retryAfterSeconds: answer.retryAfterSeconds)
        }
        if let encoding = headers.contentEncoding, !isPlain(encoding) {
            return refused(.range, "bytes as they are were expected, not Content-Encoding: \(encoding.prefix(40))")
        }
        let text = headers.contentRange ?? ""
        guard let content = ContentRange(text), let size = content.size else {
            return refused(
                .range,
                "Content-Range: bytes \(asked.lowerBound)-\(asked.upperBound - 1)/SIZE was expected, "
                    + "not \"\(text.prefix(80))\""
            )
        }
        if let pin, pin.isOther(RangePin(headers, size: size)) { return refused(.changed, changed) }
        guard content.range == asked.clamped(to: 0..<size) else {
            return refused(
                .range,
                "bytes \(asked.lowerBound)-\(asked.upperBound - 1) were asked for, not \(text.prefix(80))"
            )
        }
        if isWhole, answer.bodyCount != content.range.count {
            return .failed(
                .truncated,
                message: "\(content.range.count) bytes were expected, not \(answer.bodyCount)",
                mayPass: true
            )
        }
        return .delivered
    }

    /// Whether a `Content-Encoding` leaves bytes as they are.
    ///
    /// `aws-chunked` is about an upload. Some object stores keep it with the file, whose bytes are as they were.
    private static func isPlain(_ encoding: String) -> Bool {
        encoding.lowercased().split(separator: ",").allSatisfy { part in
            ["", "identity", "aws-chunked"].contains(part.filter { $0 != " " })
        }
    }
}

extension RangePin {
    init(_ headers: HTTPCacheHeaders, size: Int) {
        self.init(entityTag: headers.entityTag, lastModified: headers.lastModified, size: size)
    }
}
