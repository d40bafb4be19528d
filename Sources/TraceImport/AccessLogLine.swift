/// One line of an access log of nginx or Apache: the formats common and combined, also with fields before or after.
///
/// The line needs a time in brackets, `[29/Nov/2026:02:40:26 +0100]`, or without a zone as servers in Python write it,
/// `[29/Nov/2026 02:40:26]`, which is taken for UTC; and the client's address two fields before it, or
/// behind it if nothing is before. The first text in quotes that begins with a method is the request. The second one
/// after it is the user agent, as in combined.
struct AccessLogLine {
    /// Nanoseconds since 1970; logs have whole seconds.
    let time: Int64
    let client: String
    let agent: String
    let method: String
    /// Path of the request; empty if the line has none, as of a client that spoke no HTTP.
    let path: UnsafeRawBufferPointer

    /// `nil` if the line is of another format or broken.
    init?(_ line: UnsafeRawBufferPointer) {
        guard let (bracket, length, time) = Self.time(in: line) else { return nil }
        self.time = time
        let before = line[..<bracket].split(separator: UInt8(ascii: " "))
        let after = line[(bracket + length)...].split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard let client = before.count >= 3 ? before[before.count - 3] : before.first ?? after.first,
            client.first != UInt8(ascii: "\"")
        else { return nil }
        self.client = String(decoding: client, as: UTF8.self)

        let quoted = Self.quoted(line)
        let request = quoted.firstIndex { Self.request($0) != nil }
        guard let request, let (method, path) = Self.request(quoted[request]) else {
            (agent, method, path) = ("", "", UnsafeRawBufferPointer(rebasing: line[..<0]))
            return
        }
        (self.method, self.path) = (method, path)
        let rest = quoted[(request + 1)...]
        let name = rest.dropFirst().first ?? rest.first ?? line[..<0]
        agent = String(decoding: name, as: UTF8.self)
    }

    /// Words in the names of programs that are no person's view, in small letters.
    private static let robots = [
        "bot", "crawl", "spider", "slurp", "curl/", "wget/", "python", "go-http-client", "java/", "libwww", "scrapy",
        "monitor", "gdal",
    ]

    /// Whether a user agent names a program that is no person's view.
    static func isRobot(_ agent: String) -> Bool {
        let agent = agent.lowercased()
        return robots.contains { agent.contains($0) }
    }

    // MARK: - Parts

    private static func request(
        _ text: Slice<UnsafeRawBufferPointer>
    ) -> (method: String, path: UnsafeRawBufferPointer)? {
        let words = text.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].allSatisfy({ 65...90 ~= $0 }), words[1].first != UInt8(ascii: "-") else {
            return nil
        }
        return (String(decoding: words[0], as: UTF8.self), UnsafeRawBufferPointer(rebasing: words[1]))
    }

    /// Texts in quotes, without them. A backslash escapes the character after it.
    private static func quoted(_ line: UnsafeRawBufferPointer) -> [Slice<UnsafeRawBufferPointer>] {
        var texts: [Slice<UnsafeRawBufferPointer>] = []
        var start: Int?
        var index = 0
        while index < line.count {
            if line[index] == UInt8(ascii: "\\") {
                index += 1
            } else if line[index] == UInt8(ascii: "\"") {
                if let first = start { texts.append(line[first..<index]) }
                start = start == nil ? index + 1 : nil
            }
            index += 1
        }
        return texts
    }

    /// `[29/Nov/2026:02:40:26 +0100]`, and `[29/Nov/2026 02:40:26]`.
    private static let (zonedLength, plainLength) = (28, 22)
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The first time in brackets.
    private static func time(in line: UnsafeRawBufferPointer) -> (bracket: Int, length: Int, time: Int64)? {
        for bracket in line.indices where line[bracket] == UInt8(ascii: "[") {
            for length in [zonedLength, plainLength] where line.count - bracket >= length {
                let text = UnsafeRawBufferPointer(rebasing: line[bracket..<(bracket + length)])
                if let time = time(text) { return (bracket, length, time) }
            }
        }
        return nil
    }

    private static func time(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isZoned = text.count == zonedLength
        let marks: [(Int, Character)] =
            [(3, "/"), (7, "/"), (15, ":"), (18, ":")]
            + (isZoned ? [(12, ":"), (21, " "), (27, "]")] : [(12, " "), (21, "]")])
        guard marks.allSatisfy({ text[$0.0] == $0.1.asciiValue }) else { return nil }
        func number(_ range: Range<Int>, _ valid: ClosedRange<Int>) -> Int? {
            guard text[range].allSatisfy({ 48...57 ~= $0 }) else { return nil }
            let value = text[range].reduce(0) { $0 * 10 + Int($1) - 48 }
            return valid.contains(value) ? value : nil
        }
        let sign = isZoned && text[22] == UInt8(ascii: "-") ? -1 : 1
        guard let day = number(1..<3, 1...31),
            let month = months.firstIndex(where: { text[4..<7].elementsEqual($0.utf8) }),
            let year = number(8..<12, 1970...2090), let hour = number(13..<15, 0...23),
            let minute = number(16..<18, 0...59), let second = number(19..<21, 0...60),
            !isZoned || sign < 0 || text[22] == UInt8(ascii: "+"),
            let zoneHours = isZoned ? number(23..<25, 0...23) : 0,
            let zoneMinutes = isZoned ? number(25..<27, 0...59) : 0
        else { return nil }
        // The year begins in March, so that a leap day is its last one.
        let (y, m) = month < 2 ? (year - 1, month + 10) : (year, month - 2)
        let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        return Int64(seconds - sign * (zoneHours * 60 + zoneMinutes) * 60) * 1_000_000_000
    }
}
