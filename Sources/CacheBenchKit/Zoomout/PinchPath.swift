import TileCache

/// Somebody pinches out as far as a factor, looks, and pinches back in.
///
/// Each pinch doubles or halves what is seen, in half a second that starts and ends softly, with 0.3 s to set the
/// fingers anew: the pace of the built-in session.
struct PinchPath {
    /// Of one pinch and of the pause after it, in seconds.
    static let pinch = 0.5
    static let pause = 0.3
    /// At the start, at the far end and at the end, in seconds.
    static let rest = 0.5

    /// Of the whole zoom-out.
    let octaves: Double

    init(factor: Double) { octaves = max(PortableMath.log2(factor), 0) }

    /// Of one way, in seconds.
    private var way: Double { octaves.rounded(.up) * (Self.pinch + Self.pause) }

    /// Of everything, in seconds.
    var duration: Double { 3 * Self.rest + 2 * way }

    /// Whether the view is as far out as it comes.
    func isFarthest(at seconds: Double) -> Bool { octaves(at: seconds) == octaves }

    /// How far out the view is, in octaves.
    func octaves(at seconds: Double) -> Double {
        let out = seconds - Self.rest
        let back = out - way - Self.rest
        if back > 0 { return octaves - octaves(after: back, of: octaves) }
        return octaves(after: out, of: octaves)
    }

    private func octaves(after seconds: Double, of all: Double) -> Double {
        guard seconds > 0 else { return 0 }
        let done = (seconds / (Self.pinch + Self.pause)).rounded(.down)
        guard done < all else { return all }
        let part = min((seconds - done * (Self.pinch + Self.pause)) / Self.pinch, 1)
        let eased = part * part * part * (10 + part * (6 * part - 15))
        return min(done + eased * min(1, all - done), all)
    }
}
