/// Names that the options of a stress run choose from.
package protocol StressChoice: CaseIterable, Sendable, Hashable, RawRepresentable<String> {}

extension StressChoice {
    /// Reads `all`, `none` or names separated by commas; `nil` for anything else.
    package static func list(_ text: String) -> Set<Self>? {
        switch text {
        case "all": return Set(allCases)
        case "none": return []
        default:
            var choices: Set<Self> = []
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let choice = Self(rawValue: String(name)) else { return nil }
                choices.insert(choice)
            }
            return choices
        }
    }
}

/// What stress sources do wrong on purpose.
package enum StressFault: String, StressChoice {
    /// Fail for the moment.
    case fail
    /// Fail for good, the same tiles always.
    case permanent
    /// Say that a tile does not exist, the same tiles always.
    case absent
    /// Take up to half a second, which is longer than loads may take before they count as stuck.
    case stall
    /// Lie about sizes: too few pixels, empty and far too large payloads, impossible numbers of bytes held.
    case size
    /// Answer twice, the second time with poison.
    case twice
    /// Answer after everybody has lost interest.
    case late
    /// Answer on a thread of their own.
    case thread
    /// Never return, or never answer: a bounded number, for the whole run. A decoder is among them.
    case block
    /// Hand over encoded bytes that are damaged.
    case damage
    /// Let a request go without any answer.
    case drop
}
