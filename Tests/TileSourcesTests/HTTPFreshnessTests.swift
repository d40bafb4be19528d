import Testing

@testable import TileCache
@testable import TileSources

/// The rules of RFC 9111 for a private cache, on both sides of each boundary.
@Suite struct HTTPFreshnessTests {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static let now: Int64 = 784_111_777
    private static let week: Int64 = 604_800

    private func headers(_ lines: [String]) -> HTTPCacheHeaders {
        lines.reduce(into: HTTPCacheHeaders()) { headers, line in
            Array("\(line)\r\n".utf8).withUnsafeBytes { headers.note($0) }
        }
    }

    private func freshness(
        _ lines: String...,
        delay: Int64 = 0,
        usesStale: Int64 = week,
        confirming previous: TileStoreFreshness? = nil
    ) -> HTTPFreshness {
        HTTPFreshness(
            headers(lines),
            requested: Self.now - delay,
            received: Self.now,
            usesStale: usesStale,
            confirming: previous
        )
    }

    /// Seconds until an answer expires, and from then until it is unusable.
    private func spans(_ freshness: HTTPFreshness) -> [Int64] {
        [freshness.expires - Self.now, freshness.usableUntil - freshness.expires]
    }

    private func date(_ offset: Int64) -> String {
        // Within the same minute and hour of the example.
        let (minute, second) = ((37 + offset) / 60, (37 + offset) % 60)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "Sun, 06 Nov 1994 08:\(two(49 + minute)):\(two(second)) GMT"
    }

    @Test func dates() {
        func seconds(_ text: String, now: Int64 = Self.now) -> Int64? { HTTPDate.parse(text, now: now) }
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(seconds(text) == Self.now, "\(text)")
        }
        #expect(seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(seconds("Wed, 31 Dec 1969 23:59:59 GMT") == -1)
        #expect(seconds("Tue, 29 Feb 2000 12:00:00 GMT") == 951_825_600)
        #expect(seconds("Wed, 01 Mar 2000 00:00:00 GMT") == 951_868_800)
        #expect(seconds("Fri, 31 Dec 9999 23:59:59 GMT") == 253_402_300_799)
        #expect(seconds("Mon, 29 Feb 1900 00:00:00 GMT") == nil && seconds("Sun, 29 Feb 1995 00:00:00 GMT") == nil)
        #expect(seconds("Thu, 29 Feb 1996 00:00:00 GMT") == 825_552_000)
        #expect(date(0) == "Sun, 06 Nov 1994 08:49:37 GMT" && seconds(date(23)) == Self.now + 23)
        // Exactly 50 years ahead, and a second more.
        let inHalfACentury = "Sunday, 06-Nov-44 08:49:37 GMT"
        #expect(seconds(inHalfACentury) == 2_362_034_977)
        #expect(seconds(inHalfACentury, now: Self.now - 1) == -793_725_023)
        #expect(seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: .max) != nil)
        #expect(seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: .min) == nil)
        let wrong = [
            "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nix 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 94", "Sunday, 06-Nov 08:49:37 GMT",
            "784111777", String(repeating: "Sun, ", count: 10_000),
        ]
        for text in wrong { #expect(seconds(text) == nil, "\(text.prefix(60))") }
    }

    @Test func directives() {
        let many = CacheControl("Max-Age=60 , must-revalidate,no-cache=\"a, no-store\", STALE-IF-ERROR=\"5\",,x=y=z")
        #expect(many.maximumAge == 60 && many.mustRevalidate && many.isNoCache && !many.isNoStore)
        #expect(many.staleIfError == 5 && many.staleWhileRevalidate == nil)
        // The first of each counts, and an invalid number is 0.
        #expect(CacheControl("max-age=1, max-age=2").maximumAge == 1)
        let longest: Int64 = 2_147_483_648
        let numbers: [(String, Int64)] = [
            ("0", 0), ("0060", 60), ("2147483647", 2_147_483_647), ("2147483648", longest), ("2147483649", longest),
            ("9223372036854775808", longest), ("1" + String(repeating: "0", count: 30), longest), ("-1", 0), ("", 0),
            ("1.5", 0), ("1e3", 0), ("+1", 0), ("0x10", 0), ("\"60\"", 60), ("\"6\\0\"", 60), ("6 0", 60),
        ]
        for (text, expected) in numbers { #expect(CacheControl("max-age=\(text)").maximumAge == expected, "\(text)") }
        #expect(CacheControl("max-age").maximumAge == 0)
        for text in ["", ",", "=", "=1", "public, s-maxage=9, immutable, proxy-revalidate, private", "\"no-store\""] {
            #expect(CacheControl(text) == CacheControl(), "\(text)")
        }
        // An unterminated quote could hide anything.
        #expect(CacheControl("max-age=\"60, public").isNoStore && CacheControl("a=\"\\\"").isNoStore)
        #expect(!CacheControl("a=\"\\\\\", public").isNoStore)
    }

    @Test func lifetimesAndAges() {
        #expect(spans(freshness("Cache-Control: max-age=100")) == [100, Self.week])
        #expect(spans(freshness("Cache-Control: max-age=100", "Age: 30")) == [70, Self.week])
        // The answer's travel time counts if it has an age.
        #expect(spans(freshness("Cache-Control: max-age=100", "Age: 30", delay: 5)) == [65, Self.week])
        #expect(spans(freshness("Cache-Control: max-age=100", delay: 5)) == [100, Self.week])
        // The larger age of the two counts; a date in the future is no age.
        #expect(spans(freshness("Cache-Control: max-age=100", "Date: \(date(-20))")) == [80, Self.week])
        #expect(spans(freshness("Cache-Control: max-age=100", "Date: \(date(-20))", "Age: 21"))[0] == 79)
        #expect(spans(freshness("Cache-Control: max-age=100", "Date: \(date(-20))", "Age: 19"))[0] == 80)
        #expect(spans(freshness("Cache-Control: max-age=100", "Date: \(date(20))"))[0] == 100)
        #expect(spans(freshness("Cache-Control: max-age=100", "Date: yesterday", "Age: -5"))[0] == 100)
        // Older than its lifetime: stale at once.
        for (age, state) in [(99, TileStoreFreshness.State.fresh), (100, .stale), (101, .stale)] {
            let stored = freshness("Cache-Control: max-age=100", "Age: \(age)").stored()
            #expect(stored.state(at: Self.now) == state, "\(age)")
        }
        // Shared caches' lifetimes do not count; max-age has precedence over Expires.
        #expect(spans(freshness("Cache-Control: s-maxage=5, max-age=100", "Expires: 0"))[0] == 100)
        #expect(spans(freshness("Cache-Control: max-age=1", "cache-control: max-age=2, no-store"))[0] == 1)
        #expect(!freshness("Cache-Control: max-age=1", "cache-control: max-age=2, no-store").isStorable)
    }

    @Test func expiryDates() {
        #expect(spans(freshness("Expires: \(date(20))")) == [20, Self.week])
        // Relative to the server's clock, which may differ from this one.
        #expect(spans(freshness("Expires: \(date(20))", "Date: \(date(15))"))[0] == 5)
        #expect(spans(freshness("Expires: \(date(-15))", "Date: \(date(-20))"))[0] == 5 - 20)
        #expect(spans(freshness("Expires: \(date(-20))"))[0] == 0 && spans(freshness("Expires: \(date(0))"))[0] == 0)
        for text in ["0", "-1", "", "never", String(repeating: "9", count: 2000)] {
            #expect(spans(freshness("Expires: \(text)")) == [0, Self.week])
        }
        // The first one counts.
        #expect(spans(freshness("Expires: 0", "Expires: \(date(20))"))[0] == 0)
        #expect(spans(freshness("Expires: Fri, 31 Dec 9999 23:59:59 GMT"))[0] == 2_147_483_648)
    }

    @Test func guessesOfTheLifetime() {
        #expect(spans(freshness()) == [3600, Self.week] && !freshness().isExplicit)
        #expect(spans(freshness("Cache-Control: public"))[0] == 3600)
        #expect(spans(freshness("Last-Modified: \(date(-37))"))[0] == 3)
        #expect(spans(freshness("Last-Modified: \(date(20))"))[0] == 0)
        #expect(spans(freshness("Last-Modified: long ago"))[0] == 3600)
        // A tenth of ten days is a day, which is the maximum.
        #expect(spans(freshness("Last-Modified: Thu, 27 Oct 1994 08:49:37 GMT"))[0] == 86_400)
        #expect(spans(freshness("Last-Modified: Thu, 27 Oct 1994 08:49:46 GMT"))[0] == 86_399)
        #expect(spans(freshness("Last-Modified: Tue, 15 Nov 1904 12:45:26 GMT"))[0] == 86_400)
    }

    @Test func useOfStaleTiles() {
        let rules: [(String, [Int64])] = [
            ("max-age=9", [9, Self.week]), ("max-age=9, must-revalidate", [9, 0]), ("no-cache", [0, 0]),
            ("no-cache, max-age=9", [0, 0]), ("no-cache=\"a\"", [0, 0]),
            ("max-age=9, proxy-revalidate", [9, Self.week]),
            ("max-age=9, stale-while-revalidate=4", [9, 4]), ("max-age=9, stale-while-revalidate=0", [9, 0]),
            ("max-age=9, stale-if-error=5", [9, 5]), ("max-age=9, stale-if-error=5, stale-while-revalidate=4", [9, 5]),
            ("max-age=9, stale-if-error=4, stale-while-revalidate=5", [9, 5]),
            ("max-age=9, stale-while-revalidate=4, must-revalidate", [9, 0]),
            ("max-age=9, stale-while-revalidate=-4", [9, 0]),
        ]
        for (text, expected) in rules { #expect(spans(freshness("Cache-Control: \(text)")) == expected, "\(text)") }
        #expect(spans(freshness("Cache-Control: max-age=9", usesStale: 0)) == [9, 0])
        #expect(spans(freshness("Cache-Control: max-age=9", usesStale: -1)) == [9, 0])
        #expect(spans(freshness("Cache-Control: max-age=9", "Vary: Accept, *")) == [0, 0])
        #expect(spans(freshness("Cache-Control: max-age=9", "Vary: Accept")) == [9, Self.week])
        // In a store, on both sides of each boundary.
        let stored = freshness("Cache-Control: max-age=9, stale-while-revalidate=4").stored()
        #expect(stored.state(at: Self.now + 8) == .fresh && stored.state(at: Self.now + 9) == .stale)
        #expect(stored.state(at: Self.now + 12) == .stale && stored.state(at: Self.now + 13) == .expired)
    }

    /// An answer that must not be stored has its lifetime in memory. What stores are told of it is never usable: no clock
    /// makes it so, and no validator renews it.
    @Test func whatMustNotBeStoredHasALifetimeInMemory() {
        let stored = freshness("Cache-Control: no-store, max-age=100").stored(entityTag: "\"a\"", lastModified: "b")
        #expect(!stored.isStorable && stored.hasValidator && stored.expires == Self.now + 100)
        let told = TileStoreFreshness.notStored
        #expect(!told.isStorable && !told.hasValidator)
        for now in [0, 1, Self.now, Self.now + 50, .max] as [Int64] { #expect(told.state(at: now) == .expired) }
        let kept = freshness("Cache-Control: max-age=100").stored(entityTag: "\"a\"", lastModified: "b")
        #expect(kept.entityTag == "\"a\"" && kept.lastModified == "b" && kept.stored == Self.now)
    }

    /// A 304 without a lifetime leaves that of the answer it confirms.
    @Test func confirmations() {
        let previous = TileStoreFreshness(stored: 1000, expires: 1050, usableUntil: 1070, lastModified: date(-37))
        #expect(spans(freshness(confirming: previous)) == [50, 20])
        #expect(spans(freshness("Age: 8", confirming: previous)) == [42, 20])
        #expect(spans(freshness("Cache-Control: max-age=9", confirming: previous)) == [9, Self.week])
        #expect(spans(freshness("Expires: \(date(7))", confirming: previous)) == [7, Self.week])
        #expect(spans(freshness("Cache-Control: public", confirming: previous))[0] == 3)
        // Without expiry, as for a tile from a file.
        #expect(spans(freshness(confirming: TileStoreFreshness(stored: 1000))) == [3600, Self.week])
        let strict = TileStoreFreshness(stored: 1000, expires: 1000)
        #expect(spans(freshness(confirming: strict)) == [0, 0])
        let absurd = TileStoreFreshness(stored: .min, expires: .max, usableUntil: .min)
        #expect(spans(freshness(confirming: absurd)) == [2_147_483_648, 0])
    }

    @Test func redirectionsLimit() {
        func limited(_ answer: String, _ redirection: String, isPermanent: Bool) -> [Int64] {
            var result = freshness("Cache-Control: \(answer)")
            result.limit(by: freshness("Cache-Control: \(redirection)"), isPermanent: isPermanent)
            return spans(result)
        }
        #expect(limited("max-age=100", "max-age=60", isPermanent: false) == [60, Self.week])
        #expect(limited("max-age=100", "max-age=60", isPermanent: true) == [60, Self.week])
        #expect(limited("max-age=60", "max-age=100", isPermanent: false) == [60, Self.week])
        #expect(limited("max-age=100", "public", isPermanent: false) == [0, Self.week])
        #expect(limited("max-age=100", "public", isPermanent: true) == [100, Self.week])
        #expect(limited("max-age=100", "no-cache", isPermanent: true) == [0, 0])
        #expect(limited("max-age=100, stale-while-revalidate=5", "max-age=60", isPermanent: true) == [60, 45])
        var secret = freshness("Cache-Control: max-age=100")
        secret.limit(by: freshness("Cache-Control: no-store"), isPermanent: true)
        #expect(!secret.isStorable)
    }

    /// Random headers and clocks never trap, and give times in their order.
    @Test func anythingMayCome() {
        var random = SplitMix64(seed: 11)
        func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let names = ["Cache-Control", "Expires", "Date", "Age", "Last-Modified", "ETag", "Vary", "X"]
        let words = [
            "max-age", "no-cache", "no-store", "stale-if-error", "stale-while-revalidate", "must-revalidate", "=", ",",
            "\"", "\\", "0", "99999999999999999999999999999999", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", " ", ":", "é",
            "Sunday, 06-Nov-94 08:49:37 GMT", "*", "\u{0}", "Fri, 31 Dec 9999 23:59:59 GMT",
        ]
        let times: [Int64] = [.min, .min + 1, -1, 0, 1, Self.now, .max - 1, .max]
        for round in 0..<20_000 {
            var all = HTTPCacheHeaders()
            for _ in 0..<draw(6) {
                var line = Array(names[draw(names.count)].utf8) + [58]
                for _ in 0..<draw(6) { line += Array(words[draw(words.count)].utf8) }
                if draw(4) == 0 { line[draw(line.count)] = UInt8(draw(256)) }
                line.withUnsafeBytes { all.note($0) }
            }
            let previous = TileStoreFreshness(
                stored: times[draw(8)],
                expires: draw(3) == 0 ? nil : times[draw(8)],
                usableUntil: draw(3) == 0 ? nil : times[draw(8)]
            )
            let received = times[draw(8)]
            var result = HTTPFreshness(
                all,
                requested: times[draw(8)],
                received: received,
                usesStale: times[draw(8)],
                confirming: draw(2) == 0 ? previous : nil
            )
            result.limit(by: result, isPermanent: draw(2) == 0)
            let (latest, overflow) = received.addingReportingOverflow(2_147_483_648)
            let isInOrder = result.expires <= result.usableUntil && (overflow || result.expires <= latest)
            #expect(isInOrder && result.usableUntil < .max, "seed 11, round \(round)")
            if !isInOrder { break }
        }
    }

    /// Twice the bytes take twice the work, not four times. Counted by stored bytes, not by time.
    @Test func headersAreReadByLines() {
        var all = HTTPCacheHeaders()
        for number in 0..<2000 {
            Array("Cache-Control: x\(number)\r\n".utf8).withUnsafeBytes { all.note($0) }
        }
        Array("Cache-Control: max-age=7\r\n".utf8).withUnsafeBytes { all.note($0) }
        #expect(CacheControl(all.cacheControl ?? "").maximumAge == 7)
        #expect(headers(["ETag:   W/\"a b\"  ", "LAST-MODIFIED:x", "etag2: y"]).entityTag == "W/\"a b\"")
        #expect(headers(["ETag: \(String(repeating: "a", count: 2000))"]).entityTag == nil)
        #expect(headers(["Cache-Control: \(String(repeating: "a,", count: 2000))no-store"]).cacheControl?.count == 4008)
    }
}
