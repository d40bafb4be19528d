import TileCache

/// The real service on Dispatch workers, in real time or faster.
struct RealReplay {
    let options: ReplayOptions

    func run(_ input: ReplayInput) throws -> ReplayOutcome {
        throw ReplayError("not yet")
    }
}
