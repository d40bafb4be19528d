/// How many loads of a source may be in flight at a time.
public enum LoadsInFlight: Hashable, Sendable {
    /// A number of loads, 1...255.
    case fixed(Int)
    /// As many as the link to the source can use, within a range of 1...255. The number begins with eight, or with
    /// the number of the range that is nearest, and follows the times of the loads.
    case automatic(ClosedRange<Int>)

    /// As many as the link can use, from 4 to 64.
    public static let standard = LoadsInFlight.automatic(4...64)

    /// Least and most loads.
    var range: ClosedRange<Int> {
        switch self {
        case .fixed(let count): count...count
        case .automatic(let range): range
        }
    }

    /// Why the numbers are no numbers of loads; `nil` if they are.
    var problem: String? {
        let range = range
        guard range.lowerBound < 1 || range.upperBound > 255 else { return nil }
        let (least, most) = (range.lowerBound, range.upperBound)
        let text = least == most ? "\(least)" : "\(least) to \(most)"
        return "1 to 255 loads in flight were expected, not \(text)"
    }
}

extension LoadsInFlight: LosslessStringConvertible {
    /// A number, `auto`, or `auto:LEAST-MOST`.
    public init?(_ text: String) {
        if let count = Int(text) {
            self = .fixed(count)
        } else if text == "auto" {
            self = .standard
        } else {
            guard text.hasPrefix("auto:") else { return nil }
            let ends = text.dropFirst(5).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard ends.count == 2, let least = ends[0], let most = ends[1], least <= most else { return nil }
            self = .automatic(least...most)
        }
        if problem != nil { return nil }
    }

    /// The text that ``init(_:)`` reads.
    public var description: String {
        switch self {
        case .fixed(let count): "\(count)"
        case .automatic: self == .standard ? "auto" : "auto:\(range.lowerBound)-\(range.upperBound)"
        }
    }

    /// Most loads.
    package var most: Int { range.upperBound }
}
