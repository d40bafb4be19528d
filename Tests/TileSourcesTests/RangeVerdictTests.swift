import Testing

@testable import TileCache
@testable import TileSources

/// What an answer to a request for a range is, and which file it is of, without any server.
@Suite struct RangeVerdictTests {
    private static let first = "Sun, 01 Nov 2026 10:00:00 GMT"
    private static let second = "Sun, 01 Nov 2026 10:00:01 GMT"
    private static let pin = RangePin(entityTag: "\"a\"", lastModified: nil, size: 100)

    private func head(
        _ status: Int,
        _ contentRange: String?,
        count: Int,
        tag: String? = "\"a\"",
        _ change: (inout HTTPAnswerHead) -> Void = { _ in }
    ) -> HTTPAnswerHead {
        var answer = HTTPAnswerHead(status: status, headers: HTTPCacheHeaders(), bodyCount: count)
        (answer.headers.contentRange, answer.headers.entityTag) = (contentRange, tag)
        change(&answer)
        return answer
    }

    /// What was decided, in short: cause, and how to ask again.
    private func outcome(_ verdict: RangeVerdict) -> String {
        switch verdict {
        case .part(let pin): "part of \(pin.size)"
        case .file(let pin): "file of \(pin.size)"
        case .refused(let cause, _, let retry): "\(cause), \(retry)"
        }
    }

    /// The bytes 10 to 19 of an open file of 100.
    private func later(
        _ status: Int = 206,
        _ contentRange: String? = "bytes 10-19/100",
        count: Int = 10,
        tag: String? = "\"a\"",
        _ change: (inout HTTPAnswerHead) -> Void = { _ in }
    ) -> String {
        let asked = RangeQuestion(range: 10..<20, pin: Self.pin)
        return outcome(
            RangeRule.verdict(head(status, contentRange, count: count, tag: tag, change), to: asked, isWhole: true)
        )
    }

    /// The first 1000 bytes of a file that has at least 10.
    private func first(
        _ status: Int,
        _ contentRange: String? = nil,
        count: Int = 0,
        asked: Int = 1000,
        isWhole: Bool = true,
        _ change: (inout HTTPAnswerHead) -> Void = { _ in }
    ) -> String {
        let question = RangeQuestion(range: 0..<asked, pin: nil, least: 10)
        return outcome(
            RangeRule.verdict(head(status, contentRange, count: count, change), to: question, isWhole: isWhole)
        )
    }

    @Test func partsAreWhatWasAskedFor() {
        #expect(later() == "part of 100")
        #expect(first(206, "bytes 0-999/5000", count: 1000) == "part of 5000")
        #expect(first(206, "bytes 0-14/15", count: 15) == "part of 15")
        for text in [
            "bytes 10-18/100", "bytes 11-19/100", "bytes 10-20/100", "bytes 0-9/100", "bytes 10-19/*", nil, "x",
        ] {
            #expect(later(206, text) == "range, never", "\(text ?? "none")")
        }
        #expect(later(count: 9) == "truncated, later(seconds: 0)" && later(count: 11) == "truncated, later(seconds: 0)")
        #expect(later(206, "bytes 10-19/101") == "changed, never" && later(tag: "\"b\"") == "changed, never")
        #expect(later(tag: nil) == "changed, never")
        // The head's fault before that of the body.
        #expect(later(206, "bytes 10-20/100", count: 3) == "range, never")
    }

    @Test func codedBytesAreRefused() {
        for (encoding, isPlain) in [
            ("identity", true), ("aws-chunked", true), ("AWS-Chunked, identity", true), ("gzip", false),
            ("gzip, aws-chunked", false), ("aws-chunked,br", false),
        ] {
            #expect(later { $0.headers.contentEncoding = encoding } == (isPlain ? "part of 100" : "range, never"))
            // Also if they are cut off, or all of the file.
            let whole = first(200, count: 15) { $0.headers.contentEncoding = encoding }
            #expect(whole == (isPlain ? "file of 15" : "range, never"))
        }
        #expect(later(count: 3) { $0.headers.contentEncoding = "gzip" } == "range, never")
    }

    /// Servers that refuse a range which ends beyond the file are asked for the bytes that each such file has.
    @Test func aRangeBeyondTheEndIsShortened() {
        for status in [400, 404, 405, 410, 416, 499] {
            #expect(first(status).hasSuffix(", shorter"), "\(status)")
            #expect(first(status, asked: 11).hasSuffix(", shorter"), "\(status)")
            #expect(first(status, asked: 10).hasSuffix(", never"), "\(status)")
        }
        // Rights are those of the file.
        for status in [401, 403, 407] { #expect(first(status) == "status, never") }
        for status in [408, 425, 429, 500, 503] {
            #expect(first(status) { $0.retryAfterSeconds = 3 } == "status, later(seconds: 3)")
            #expect(later(status) == "status, later(seconds: 0)")
        }
        // Once it is open, no range ends beyond.
        #expect(later(404) == "status, never" && later(400) == "status, never" && later(204) == "status, never")
        #expect(later(304) == "status, never" && later(302) == "status, never")
        #expect(later(416, nil) == "changed, never" && later(416, "bytes */99") == "changed, never")
        #expect(later(416, "bytes */100") == "range, never")
        // The server says so.
        #expect(first(416, "bytes */0") == "range, never" && first(416, "bytes */1") == "range, shorter")
    }

    /// The range of the request, or a byte too many, with the bytes that there are.
    @Test func aRangeThatIsNotClampedIs() {
        for text in ["bytes 0-999/15", "bytes 0-15/15"] {
            #expect(first(206, text, count: 15) == "part of 15")
            #expect(first(206, text, count: 15) { $0.isCutOff = true } == "part of 15")
            #expect(first(206, text, count: 14) == "range, shorter" && first(206, text, count: 16) == "range, shorter")
        }
        #expect(first(206, "bytes 0-14/15", count: 14) == "truncated, later(seconds: 0)")
        #expect(first(206, "bytes 0-10/10", count: 9, asked: 10) == "truncated, later(seconds: 0)")
    }

    @Test func aWholeFileNoLongerThanAskedForIsTheFile() {
        #expect(first(200, count: 999) == "file of 999" && first(200, count: 1000) == "file of 1000")
        #expect(first(200, count: 1001) == "range, never" && first(203, count: 15) == "range, never")
        #expect(first(200, count: 0) == "range, never")
        #expect(first(200, count: 15) { $0.isCutOff = true } == "truncated, later(seconds: 0)")
        // Before the body comes, its stated length counts. Without one it may be short.
        #expect(first(200, isWhole: false) { $0.headers.contentLength = 1000 } == "file of 1000")
        #expect(first(200, isWhole: false) { $0.headers.contentLength = 1001 } == "range, never")
        #expect(first(200, isWhole: false) == "file of 0")
        // The body of one that is too long is not read.
        #expect(first(200) { $0.headers.contentLength = 1001 } == "range, never")
        #expect(first(200, count: 14) { $0.headers.contentLength = 15 } == "truncated, later(seconds: 0)")
        #expect(first(200, count: 15) { $0.headers.contentLength = 15 } == "file of 15")
        // Of an open file, only if all of it was asked for.
        func all(_ count: Int, tag: String = "\"a\"", asked: Range<Int> = 0..<100) -> String {
            let question = RangeQuestion(range: asked, pin: Self.pin)
            return outcome(RangeRule.verdict(head(200, nil, count: count, tag: tag), to: question, isWhole: true))
        }
        #expect(all(100) == "file of 100" && all(100, tag: "\"b\"") == "changed, never")
        #expect(all(99) == "range, pastCaches" && all(101) == "range, pastCaches")
        #expect(all(100, asked: 0..<99) == "range, pastCaches" && all(100, asked: 1..<100) == "range, pastCaches")
    }

    /// After a part, the whole file is a cache's answer, and the next one may be a part. So it is when a file is opened, if
    /// there is a cache, or the server says that it has ranges.
    @Test func aWholeFileAfterAPartPasses() {
        for status in [200, 203] {
            #expect(later(status, nil, count: 100) == "range, pastCaches")
            // Another file's, or a page without any.
            #expect(later(status, nil, count: 30, tag: nil) == "range, pastCaches")
            #expect(later(status, nil, count: 100, tag: "\"b\"") == "range, pastCaches")
            #expect(first(status, count: 5000) == "range, never")
        }
        for line in [
            "Age: 0", "Via: 1.1 varnish", "X-Cache: MISS", "X-Cache-Status: HIT", "Accept-Ranges: bytes",
            "accept-ranges:  Bytes",
        ] {
            var headers = HTTPCacheHeaders()
            Array(line.utf8).withUnsafeBytes { headers.note($0) }
            #expect(first(200, count: 5000) { $0.headers = headers } == "range, pastCaches", "\(line)")
        }
        for line in ["Accept-Ranges: none", "X-Powered-By: x", "Vary: Range"] {
            var headers = HTTPCacheHeaders()
            Array(line.utf8).withUnsafeBytes { headers.note($0) }
            #expect(first(200, count: 5000) { $0.headers = headers } == "range, never", "\(line)")
        }
    }

    /// Some servers state the part, but not by the status.
    @Test func aPartWithTheStatusOfTheWholeIsAPart() {
        #expect(later(200) == "part of 100" && later(200, count: 9) == "truncated, later(seconds: 0)")
        #expect(later(200, tag: "\"b\"") == "changed, never")
        #expect(first(200, "bytes 0-999/5000", count: 1000) == "part of 5000")
        #expect(first(200, "bytes 0-14/15", count: 15) == "part of 15")
        // Another part, or all of it.
        #expect(later(200, "bytes 10-20/100", count: 11) == "range, pastCaches")
        #expect(later(200, "bytes 0-99/100", count: 100) == "range, pastCaches")
        #expect(later(200, "bytes 10-19/*") == "range, pastCaches")
        #expect(later(203) == "range, pastCaches")
    }

    private func pin(_ tag: String?, _ date: String? = nil, _ size: Int = 1) -> RangePin {
        RangePin(entityTag: tag, lastModified: date, size: size)
    }

    @Test func anotherFileIsToldByItsNames() {
        let (a, b, weakA, weakB) = ("\"a\"", "\"b\"", "W/\"a\"", "W/\"b\"")
        let (old, new) = (Self.first, Self.second)
        // Opened, answered, whether it is another file.
        let cases: [(RangePin, RangePin, Bool)] = [
            (pin(a), pin(a), false), (pin(a), pin(b), true), (pin(a), pin(a, nil, 2), true),
            // A tag that stays while the file becomes newer, as of servers that keep it.
            (pin(a, old), pin(a, old), false), (pin(a, old), pin(a, new), true), (pin(a, new), pin(a, old), false),
            (pin(a, old), pin(a, "yesterday"), false), (pin(a, "1"), pin(a, "2"), false),
            // Weak and strong, both ways. Those that differ identify nothing.
            (pin(weakA), pin(a), false), (pin(a), pin(weakA), false), (pin(weakA), pin("w/\"a\""), false),
            (pin(weakA, old), pin(a, new), true), (pin(weakA, old), pin(weakB, old), false),
            (pin(weakA, old), pin(weakB, new), true), (pin(weakA, new), pin(weakB, old), true),
            (pin(weakA, old), pin(b, old), false), (pin(a, old), pin(weakB, old), false),
            (pin(weakA, old), pin(b, new), true), (pin(weakA), pin(weakB), false),
            (pin(weakA), pin(weakB, nil, 2), true), (pin(weakA, old), pin(weakB), true),
            (pin(weakA), pin(weakB, old), false),
            // No tag, or one only.
            (pin(a, old), pin(nil, old), false), (pin(a, old), pin(nil, new), true),
            (pin(nil, old), pin(a, old), false),
            (pin(nil, old), pin(a, new), true), (pin(nil, new), pin(nil, old), true), (pin(a), pin(nil), true),
            (pin(weakA), pin(nil), true), (pin(nil, old), pin(nil), true), (pin(nil), pin(nil), false),
            (pin(nil), pin(a, old), false), (pin(nil), pin(nil, nil, 2), true), (pin(a), pin(nil, old), true),
            // The same second in two forms; texts that are no dates.
            (pin(nil, old), pin(nil, "Sun Nov  1 10:00:00 2026"), false),
            (pin(nil, old), pin(nil, "Sunday, 01-Nov-26 10:00:01 GMT"), true),
            (pin(nil, "1"), pin(nil, "1"), false), (pin(nil, "1"), pin(nil, "2"), true),
            (pin(nil, "1"), pin(nil, old), true),
        ]
        for (index, (opened, answer, isOther)) in cases.enumerated() {
            #expect(opened.isOther(answer) == isOther, "case \(index): \(opened), \(answer)")
        }
    }

    /// With an equal tag a later time is another file's if it is not earlier than the first answer's: copies of a file
    /// have times of their own.
    @Test(arguments: ["\"a\"", "W/\"a\""]) func copiesHaveTimesOfTheirOwn(tag: String) {
        var headers = HTTPCacheHeaders()
        (headers.entityTag, headers.lastModified) = (tag, Self.first)
        // The copy, the second of the first answer, and one more.
        let dates = ["Sun, 01 Nov 2026 10:00:01 GMT", "Sun, 01 Nov 2026 10:00:02 GMT", "Sun, 01 Nov 2026 10:00:03 GMT"]
        func isOther(_ modified: String, date: String?) -> Bool {
            headers.date = date
            return RangePin(headers, size: 1).isOther(pin(tag, modified))
        }
        #expect(dates.map { isOther($0, date: dates[1]) } == [false, true, true])
        for date in [nil, "soon"] { #expect(dates.map { isOther($0, date: date) } == [true, true, true]) }
        // Without a tag there is nothing else to compare.
        headers.entityTag = nil
        #expect(isOther(dates[0], date: dates[1]))
    }

    /// A pin becomes strong with the tag; a weak one that varies is no part of it any more.
    @Test func aPinIsConfirmed() {
        let (old, a, weakA, weakB) = (Self.first, "\"a\"", "W/\"a\"", "W/\"b\"")
        let cases: [(RangePin, RangePin, RangePin)] = [
            (pin(weakA, old), pin(a, old), pin(a, old)), (pin(weakA, old), pin(weakB, old), pin(nil, old)),
            (pin(weakA), pin(weakB), pin(nil)), (pin(a, old), pin(weakB, old), pin(a, old)),
            (pin(a, old), pin(weakA, old), pin(a, old)), (pin(nil, old), pin(a, old), pin(nil, old)),
            (pin(weakA, old), pin(nil, old), pin(weakA, old)),
        ]
        for (index, (opened, answer, after)) in cases.enumerated() {
            var pin = opened
            pin.confirm(answer)
            #expect(pin == after, "case \(index)")
        }
        #expect(pin(weakA).isIdentified && pin(nil, old).isIdentified && !pin(nil).isIdentified)
        #expect(pin(weakA, old, 7).names == pin(a, old, 7).names && pin(a).names != pin("\"b\"").names)
        #expect(pin(nil, nil, 7).names == ["7 bytes", "no ETag", "no Last-Modified"])
    }

    /// Against a simple reference: what two answers of random servers say of their files.
    @Test(arguments: [1, 2, 3] as [UInt64]) func randomAnswersAreOfOneFile(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func draw() -> (tag: Int?, isWeak: Bool, date: Int?, size: Int) {
            let tag = Int(random.next() % 3), date = Int(random.next() % 3)
            return (tag == 2 ? nil : tag, random.next() % 2 == 0, date == 2 ? nil : date, Int(random.next() % 2))
        }
        for _ in 0..<2000 {
            let (one, other) = (draw(), draw())
            let pins = [one, other].map { drawn in
                pin(
                    drawn.tag.map { (drawn.isWeak ? "W/" : "") + "\"\($0)\"" },
                    drawn.date.map { [Self.first, Self.second][$0] },
                    drawn.size
                )
            }
            let expected: Bool
            if one.size != other.size {
                expected = true
            } else if let tag = one.tag, tag == other.tag {
                expected = one.date == 0 && other.date == 1
            } else if one.tag != nil, other.tag != nil, !one.isWeak, !other.isWeak {
                expected = true
            } else if one.date != nil, other.date != nil {
                expected = one.date != other.date
            } else {
                expected = one.date != nil || (one.tag != nil && other.tag == nil)
            }
            #expect(pins[0].isOther(pins[1]) == expected, "seed \(seed): \(pins)")
        }
    }
}
