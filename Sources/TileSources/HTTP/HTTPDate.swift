/// A date of HTTP (RFC 9110, 5.6.7), in seconds since 1970.
///
/// Three forms: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
enum HTTPDate {
    private static let months = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
        "dec": 12,
    ]
    private static let days: Set<String> = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays: Set<String> = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    /// Maximum length of a date; the longest valid one has 33 bytes.
    private static let longest = 64

    /// Parses a date; `nil` if it has none of the three forms or does not exist.
    ///
    /// - Parameter now: Seconds since 1970. A year of two digits is the one that is at most 50 years ahead of it.
    static func parse(_ text: String, now: Int64) -> Int64? {
        guard text.utf8.count <= longest else { return nil }
        let words = text.lowercased().split(separator: " ").map(String.init)
        switch words.count {
        case 6:
            guard words[0].hasSuffix(","), days.contains(String(words[0].dropLast())), words[5] == "gmt",
                let year = number(words[3], 4...4)
            else { return nil }
            return seconds(year, words[2], number(words[1], 2...2), words[4])
        case 4:
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())), words[3] == "gmt",
                parts.count == 3, let short = number(parts[2], 2...2)
            else { return nil }
            return century(of: short, now) { seconds($0, parts[1], number(parts[0], 2...2), words[2]) }
        case 5:
            guard days.contains(words[0]), let year = number(words[4], 4...4) else { return nil }
            return seconds(year, words[1], number(words[2], 1...2), words[3])
        default: return nil
        }
    }

    /// Finds the century of a short year. It is the latest for which the date is at most 50 years ahead.
    private static func century(of year: Int, _ now: Int64, _ seconds: (Int) -> Int64?) -> Int64? {
        // With 13 leap days.
        let fiftyYears: Int64 = 18_263 * 86_400
        let (sum, overflow) = now.addingReportingOverflow(fiftyYears)
        for century in stride(from: 9900, through: 1900, by: -100) {
            if let date = seconds(century + year), overflow || date <= sum { return date }
        }
        return nil
    }

    private static func seconds(_ year: Int, _ month: String, _ day: Int?, _ time: String) -> Int64? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2...2) }
        guard parts.count == 3, let month = months[month], let day, let hour = parts[0], let minute = parts[1],
            let second = parts[2], hour < 24, minute < 60, second <= 60
        else { return nil }
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day >= 1, day <= lengths[month - 1] else { return nil }
        let before = year - 1
        let leaps = before / 4 - before / 100 + before / 400
        let dayOfYear = lengths[..<(month - 1)].reduce(0, +) + day - 1
        // 719,162 days from year 1 to 1970.
        let days = 365 * before + leaps + dayOfYear - 719_162
        return Int64(days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// Parses digits, as many as expected.
    private static func number(_ text: String, _ digits: ClosedRange<Int>) -> Int? {
        digits.contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
