/// Reason why a replay, or a check of its report, is impossible.
package struct ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A full sentence: the problem, and what was expected.
    package var description: String

    package init(_ description: String) { self.description = description }

    static let speedWithoutRealClock = ReplayError("--speed needs --clock real: under the virtual clock no time passes")
}

/// Throws a problem unless a condition holds.
func require(_ holds: Bool, _ problem: @autoclosure () -> String) throws(ReplayError) {
    guard holds else { throw ReplayError(problem()) }
}
