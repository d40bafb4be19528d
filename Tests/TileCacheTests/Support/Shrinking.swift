import Testing

/// A random case that names simpler ones.
protocol Shrinkable {
    /// The same case with one thing less, the most telling first.
    var simpler: [Self] { get }
}

/// Checks a random case; whether it holds. If it fails, simpler cases are tried for as long as they fail too, and the
/// simplest is reported.
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
