import Testing

@testable import TileCache
@testable import TileSources

/// Decisions of the HTTP source, without a server.
@Suite struct HTTPRuleTests {
    @Test func templates() throws {
        let usual = try TileTemplate("https://tiles.example/{z}/{x}/{y}.png?key=a%20b")
        #expect(usual.address(zoom: 3, column: 5, row: 1) == "https://tiles.example/3/5/1.png?key=a%20b")
        let fromBottom = try TileTemplate("HTTP://h/{x}-{-y}-{z}")
        #expect(fromBottom.address(zoom: 3, column: 5, row: 1) == "HTTP://h/5-6-3")
        let wrong = [
            "ftp://h/{z}/{x}/{y}": "begins with http://", "http://h/{z}/{x}": "places for {z}, {x} and {y}",
            "http://h/{z}/{x}/{y": "a } was expected", "http://h/{z}/{x}/{w}": "not {w}",
            "http://h/{z}/{x}/{y} HTTP": "without spaces", "file:///etc/{z}/{x}/{y}": "begins with http://",
        ]
        for (template, part) in wrong {
            #expect(message { _ = try HTTPTileSource(template: template) }.contains(part))
        }
    }

    @Test func optionsAreChecked() {
        func said(_ change: (inout HTTPTileOptions) -> Void) -> String {
            var options = HTTPTileOptions()
            change(&options)
            return message { _ = try HTTPTileSource(template: "http://h/{z}/{x}/{y}", http: options) }
        }
        #expect(said { _ in }.isEmpty)
        #expect(said { $0.zooms = 0...31 }.contains("a zoom of 0 to 30 was expected, not 31"))
        #expect(said { $0.connections = 0 }.contains("connections of 1 to 64"))
        #expect(said { $0.timeout = .zero }.contains("timeout of 0.001 seconds to"))
        #expect(said { $0.retries = 21 }.contains("retries of 0 to 20"))
        let refusal = said { $0.headers = ["A: b", "Key: secret\r\nC: d"] }
        #expect(refusal.contains("a header line") && refusal.contains("number 2") && !refusal.contains("secret"))
    }

    @Test func whatMayPassIsTriedAgainAndTheRestIsNot() {
        let rule = RetryRule(retries: 3, backOff: 100)
        func wait(_ status: Int, _ attempts: Int, _ dice: Double, retryAfter: Int = 0) -> Int? {
            let end = RetryRule.end(status: status, absentStatuses: [404], retryAfterSeconds: retryAfter)
            return rule.wait(after: end, attempts: attempts, dice: dice)
        }
        #expect(wait(503, 1, 0) == 100 && wait(503, 2, 0) == 200 && wait(503, 3, 0) == 400 && wait(503, 4, 0) == nil)
        #expect(wait(503, 3, 1) == 200)
        #expect(wait(429, 1, 0, retryAfter: 2) == 2000 && wait(429, 1, 0, retryAfter: 1_000_000) == 30_000)
        for status in [400, 401, 403, 418, 206, 301] { #expect(wait(status, 1, 0) == nil) }
        for status in [408, 425, 429, 500, 502, 599] { #expect(wait(status, 1, 0) == 100) }
        #expect(RetryRule.end(status: 404, absentStatuses: [404], retryAfterSeconds: 0) == .absent)
        #expect(RetryRule.end(status: 200, absentStatuses: [404], retryAfterSeconds: 0) == .delivered)
        #expect(RetryRule.end(status: 203, absentStatuses: [], retryAfterSeconds: 0) == .delivered)
        #expect(RetryRule.end(status: 304, absentStatuses: [404], retryAfterSeconds: 0) == .notModified)
        let many = RetryRule(retries: 20, backOff: 3_600_000)
        let end = FetchEnd.failed(.timeOut, message: "", mayPass: true)
        for attempts in 1...20 { #expect(many.wait(after: end, attempts: attempts, dice: 0) == 30_000) }
    }

    /// Each kept answer is the last one of its tile. The sum stays within the limit.
    @Test func keptAnswersStayWithinTheirBytes() {
        let kept = KeptAnswers(limit: 20_000)
        var random = SplitMix64(seed: 3)
        var last: [TileCoordinate: Int] = [:]
        for number in 0..<5000 {
            let tile = TileCoordinate(level: 0, column: Int(random.next() % 40), row: 0)
            if random.next() % 3 == 0 {
                if let answer = kept[tile] { #expect(answer.bytes.count == last[tile]) }
            } else if random.next() % 9 == 0 {
                kept.forget(tile)
                #expect(kept[tile] == nil)
            } else {
                let size = Int(random.next() % 2500) + (number % 500 == 0 ? 30_000 : 0)
                let answer = KeptAnswer(
                    entityTag: "\(number)",
                    lastModified: nil,
                    bytes: [UInt8](repeating: 1, count: size)
                )
                kept.keep(answer, for: tile)
                last[tile] = size
                #expect((kept[tile] != nil) == (answer.cost <= 20_000))
            }
            #expect(kept.byteCount <= 20_000 && kept.byteCount >= 0)
        }
        #expect(KeptAnswers(limit: 0)[TileCoordinate(level: 0, column: 0, row: 0)] == nil)
    }

    /// Those that were used longest ago go, down to three quarters of the limit. A look-up is a use, as a new answer is.
    @Test func keptAnswersAreEvictedInOrderOfUse() {
        let kept = KeptAnswers(limit: 8000)
        let answer = KeptAnswer(entityTag: "a", lastModified: nil, bytes: [UInt8](repeating: 1, count: 799))
        #expect(answer.cost == 1000)
        let tiles = (0..<9).map { TileCoordinate(level: 0, column: $0, row: 0) }
        for tile in tiles[..<8] { kept.keep(answer, for: tile) }
        #expect(kept.byteCount == 8000 && kept[tiles[1]] != nil)
        kept.keep(answer, for: tiles[3])
        #expect(kept.byteCount == 8000)
        kept.keep(answer, for: tiles[8])
        #expect(tiles.filter { kept[$0] == nil } == [tiles[0], tiles[2], tiles[4]])
        #expect(kept.byteCount == 6000)
    }
}
