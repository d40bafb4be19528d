/// Steps of the present hold of the lock: they bound how long it lasts, whatever has to make way.
///
/// A step is an eviction, a decommit, or another change of one tile. Loops whose length depends on how many tiles the
/// cache holds end when the steps are spent, and go on in a later hold. What is linear in the caller's own request, such
/// as the needed tiles of an update, is counted and not cut off.
struct HoldSteps {
    /// Maximum steps of a hold. Without a lock (tests, the simulation) there is one hold without a maximum.
    private var most = Int.max
    private(set) var spent = 0
    /// The most steps that a hold before the present one has taken.
    private var longestBefore = 0
    /// The most steps that a hold has taken.
    var longest: Int { max(longestBefore, spent) }
    /// Whether a request of this hold was refused because the steps were spent: the next hold goes on with it.
    private(set) var isInterrupted = false

    /// Tiles that a search passes in the time of one step.
    private static let passedPerStep = 64

    var left: Int { max(most - spent, 0) }

    /// Begins a hold of the lock.
    mutating func begin(atMost steps: Int) {
        longestBefore = longest
        (most, spent, isInterrupted) = (steps, 0, false)
    }

    @inline(__always)
    mutating func spend(_ steps: Int = 1) { spent &+= steps }

    /// Counts tiles that a search has passed.
    @inline(__always)
    mutating func pass(_ tiles: Int) { spend(tiles / Self.passedPerStep) }

    /// Whether a loop may go on. Otherwise notes that its request was interrupted.
    mutating func mayGoOn() -> Bool {
        isInterrupted = isInterrupted || left == 0
        return left > 0
    }

    /// Value of `spent` after at most so many further steps of this hold.
    func end(after steps: Int) -> Int { spent + min(steps, left) }

    mutating func forgetLongest() { (longestBefore, spent) = (0, 0) }
}
