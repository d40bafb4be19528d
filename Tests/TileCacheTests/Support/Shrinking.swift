import Testing

/// A random case that can be simplified.
protocol Shrinkable {
    /// Simpler cases with one thing less, the most revealing first.
    var simpler: [Self] { get }
}

/// Checks a random case; returns whether it holds. If it fails, tries simpler cases while they fail too, and reports
/// the simplest.
///
/// - Parameters:
///   - seed: of the case, for the report.
///   - tries: how many simpler cases are tried.
///   - problem: what is wrong with a case; `nil` if nothing is.
func check<Case: Shrinkable>(
    _ first: Case,
    seed: UInt64,
    tries: Int = 60,
    sourceLocation: SourceLocation = #_sourceLocation,
    problem: (Case) throws -> String?
) -> Bool {
    func look(_ some: Case) -> String? {
        do { return try problem(some) } catch { return "\(error)" }
    }
    guard var found = look(first) else { return true }
    var simplest = first
    var tries = tries
    var isSimpler = true
    while isSimpler {
        isSimpler = false
        for candidate in simplest.simpler where tries > 0 {
            tries -= 1
            guard let other = look(candidate) else { continue }
            (simplest, found, isSimpler) = (candidate, other, true)
            break
        }
    }
    Issue.record("seed \(seed): \(found)\nsimplest case that fails: \(simplest)", sourceLocation: sourceLocation)
    return false
}
