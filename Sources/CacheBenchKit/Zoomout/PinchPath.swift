import TileCache

/// A session that pinches out to a factor, rests, and pinches back in.
///
/// Each pinch doubles or halves the visible area's sides in half a second, smooth at both ends, with 0.3 s between
/// pinches: the pace of the built-in session.
struct PinchPath {
    /// Duration of one pinch and of the pause after it, in seconds.
    static let pinch = 0.5
    static let pause = 0.3
    /// Seconds of each rest: at the start, at the far end and at the end.
    static let rest = 0.5

    /// Octaves of the whole zoom-out.
    let octaves: Double

    init(factor: Double) { octaves = max(PortableMath.log2(factor), 0) }

    /// Duration of one direction, in seconds.
    private var way: Double { octaves.rounded(.up) * (Self.pinch + Self.pause) }

    var duration: Double { 3 * Self.rest + 2 * way }

    /// Whether the view is at its farthest.
    func isFarthest(at seconds: Double) -> Bool { octaves(at: seconds) == octaves }

    /// Octaves by which the view is zoomed out.
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
