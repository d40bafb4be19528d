/// Names for the options of a stress run.
package protocol StressChoice: CaseIterable, Sendable, Hashable, RawRepresentable<String> {}

extension StressChoice {
    /// All names, for help and messages.
    package static func names(separator: String) -> String { allCases.map(\.rawValue).joined(separator: separator) }

    /// Parses `all`, `none` or names separated by commas; `nil` for other text.
    package static func list(_ text: String) -> Set<Self>? {
        switch text {
        case "all": return Set(allCases)
        case "none": return []
        default:
            let names = text.split(separator: ",", omittingEmptySubsequences: false)
            let choices = names.compactMap { Self(rawValue: String($0)) }
            return choices.count == names.count ? Set(choices) : nil
        }
    }
}

/// Deliberate faults of stress sources.
package enum StressFault: String, StressChoice {
    case fail
    /// Fails permanently, always for the same tiles.
    case permanent
    /// Reports a tile as absent, always the same tiles.
    case absent
    /// Takes up to half a second, longer than `stuckLoadTime`.
    case stall
    /// Delivers wrong sizes: too few pixels, empty and far too large payloads. Also impossible numbers of held bytes.
    case size
    /// Completes twice, the second time with poison.
    case twice
    /// Completes after the tile is no longer wanted.
    case late
    case thread
    /// Never returns, or never completes: a bounded number of times for the whole run. A decoder is among them.
    case block
    /// Passes damaged encoded bytes.
    case damage
    /// Releases a request without completing it.
    case drop
}
