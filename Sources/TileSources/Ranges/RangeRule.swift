/// What a request for a range asks.
struct RangeQuestion: Equatable {
    /// The bytes asked for. Those of the first request of a file may reach beyond its end.
    var range: Range<Int>
    /// The file that was opened; `nil` for the first request.
    var pin: RangePin?
    /// Bytes that each file of the expected kind has: what the first request asks for if a longer range is refused.
    var least = 1

    /// Whether fewer bytes can be asked for.
    var isShortenable: Bool { pin == nil && range.lowerBound == 0 && range.upperBound > least }
}

/// What an answer to a request for a range is.
enum RangeVerdict: Equatable {
    /// The bytes that were asked for, or the first of them if the file ends earlier.
    case part(of: RangePin)
    /// The whole file, which ends where the range does, or earlier.
    case file(RangePin)
    case refused(TileLoadFailureCause, String, RangeRetry)
}

/// How to ask again after an answer without the bytes.
enum RangeRetry: Equatable {
    case never
    /// The same later, not before the time that the server asks for.
    case later(seconds: Int = 0)
    /// At once, with a request that caches pass on; then later.
    case pastCaches
    /// At once, for the bytes that each such file has.
    case shorter
}

/// Which bytes an answer has, of which file, and how to ask again. Pure, so that it can be tested without a server.
enum RangeRule {
    static let changed = "the file has changed since it was opened; open it again"
    static let changedOnServer =
        changed + ", or, if a cache before the server keeps parts of the old file, when that has dropped them"
    static let changedTwice =
        "parts of different files came, twice in succession. The file is being written, or several servers answer with tags "
        + "of their own, or a cache before the server keeps parts of an old file: open it again when that has dropped them"
    static let unidentified =
        "the server states no ETag that stays the same, and no Last-Modified: a file of the same size that replaces this one "
        + "is not noticed, and stores keep no tiles of it"

    /// Judges an answer.
    ///
    /// - Parameter isWhole: Whether all of the body has come, or all that will come. Before that an answer is judged by
    ///   its headers.
    static func verdict(_ answer: HTTPAnswerHead, to asked: RangeQuestion, isWhole: Bool) -> RangeVerdict {
        let content = ContentRange(answer.headers.contentRange ?? "")
        switch answer.status {
        case 206: return part(answer, asked, content, isWhole)
        // Some servers state which part it is, but not by the status.
        case 200 where content?.size != nil && content?.range == asked.range.clamped(to: 0..<(content?.size ?? 0)):
            return part(answer, asked, content, isWhole)
        case let status where RetryRule.isDelivery(status): return whole(answer, asked, isWhole)
        case 416: return unsatisfied(answer, asked)
        case 304: return .refused(.status, "the status 304 was not asked for", .never)
        case let status:
            guard
                case .failed(let cause, let message, let mayPass, let seconds) = RetryRule.end(
                    status: status,
                    absentStatuses: [],
                    retryAfterSeconds: answer.retryAfterSeconds
                )
            else { return .refused(.status, "the status \(status) was not expected", .never) }
            if mayPass { return .refused(cause, message, .later(seconds: seconds)) }
            // Some servers refuse a range that ends beyond the file so. Those of missing rights mean the file.
            let isRefusal = (400..<500).contains(status) && ![401, 403, 407].contains(status)
            return .refused(cause, message, isRefusal && asked.isShortenable ? .shorter : .never)
        }
    }

    private static func part(
        _ answer: HTTPAnswerHead,
        _ asked: RangeQuestion,
        _ content: ContentRange?,
        _ isWhole: Bool
    ) -> RangeVerdict {
        if let refusal = coded(answer) { return refusal }
        let text = (answer.headers.contentRange ?? "").prefix(80)
        let wish = "\(asked.range.lowerBound)-\(asked.range.upperBound - 1)"
        guard let content, let size = content.size else {
            return .refused(.range, "Content-Range: bytes \(wish)/SIZE was expected, not \"\(text)\"", .never)
        }
        let pin = RangePin(answer.headers, size: size)
        if asked.pin?.isOther(pin) == true { return .refused(.changed, changedOnServer, .never) }
        guard content.range == asked.range.clamped(to: 0..<size) else {
            return .refused(.range, "bytes \(wish) were asked for, not \(text)", .never)
        }
        guard isWhole, answer.bodyCount != content.range.count else { return .part(of: pin) }
        let message = "\(content.range.count) bytes were expected, not \(answer.bodyCount)"
        // Who states bytes that there are not may send others.
        if content.isBeyond, asked.isShortenable { return .refused(.range, "\(message), of \(text)", .shorter) }
        return .refused(.truncated, message, .later())
    }

    /// An answer with a whole file. It is what was asked for if it is no longer than that.
    private static func whole(_ answer: HTTPAnswerHead, _ asked: RangeQuestion, _ isWhole: Bool) -> RangeVerdict {
        if let refusal = coded(answer) { return refusal }
        // The body of a file that is too long is not read.
        let stated = answer.headers.contentLength ?? (isWhole ? answer.bodyCount : nil)
        // What a proxy has changed (203) are not the file's bytes.
        if answer.status == 200, asked.range.lowerBound == 0 {
            let file = RangePin(answer.headers, size: stated ?? asked.pin?.size ?? 0)
            let isWish =
                asked.pin.map { $0.size == file.size && $0.size == asked.range.upperBound }
                ?? (file.size <= asked.range.upperBound)
            if isWish, answer.isCutOff || (isWhole && answer.bodyCount != file.size) {
                return .refused(.truncated, "\(file.size) bytes were expected, not \(answer.bodyCount)", .later())
            }
            if isWish, asked.pin?.isOther(file) == true { return .refused(.changed, changedOnServer, .never) }
            if isWish, isWhole, file.size == 0 { return .refused(.range, "the file is empty", .never) }
            if isWish { return .file(file) }
        }
        // A server that has answered with a part can do so, and so may one behind a cache. It is the next requests' matter
        // whether the file has changed: a page that says that all is well with the server has the status 200, too.
        let retry: RangeRetry = asked.pin != nil || answer.headers.mayHaveRanges ? .pastCaches : .never
        let part = "a part with the status 206 was expected, not all of it with the status \(answer.status)"
        return .refused(.range, asked.pin == nil ? "the server ignores Range: \(part)" : part, retry)
    }

    private static func unsatisfied(_ answer: HTTPAnswerHead, _ asked: RangeQuestion) -> RangeVerdict {
        let size = ContentRange.size(unsatisfied: answer.headers.contentRange ?? "")
        if let pin = asked.pin, size != pin.size { return .refused(.changed, changedOnServer, .never) }
        if size == 0 { return .refused(.range, "the file is empty", .never) }
        let wish = "bytes \(asked.range.lowerBound)-\(asked.range.upperBound - 1)"
        let rest = size.map { " of \($0)" } ?? "; the file may be shorter"
        let message = "the server answered with the status 416 for \(wish)\(rest)"
        return .refused(.range, message, asked.isShortenable ? .shorter : .never)
    }

    /// The refusal of bytes that are not as they are in the file.
    private static func coded(_ answer: HTTPAnswerHead) -> RangeVerdict? {
        guard let encoding = answer.headers.contentEncoding, !isPlain(encoding) else { return nil }
        let message = "bytes as they are were expected, not Content-Encoding: \(encoding.prefix(40))"
        return .refused(.range, message, .never)
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
