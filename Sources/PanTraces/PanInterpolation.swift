import TileCache

/// Interpolates a view between two samples of a trace.
///
/// The centre moves in a straight line and the scale by equal factors in equal times. The view turns the short way,
/// since renderers may record angles within one turn. A step too large for a gesture is a jump (a link that was
/// followed, a place that was looked up): the earlier sample then holds until the later one, since the view never was
/// in between.
public struct PanInterpolation: Sendable {
    private let from: PanTraceSample
    private let to: PanTraceSample
    /// Whether the later sample is too far from the earlier one for a movement.
    public let isJump: Bool
    /// Change of scale in octaves; 0 if the scales are equal to the bit.
    private let octaves: Double
    /// Change of rotation, at most half a turn.
    private let turn: Double

    /// Prepares the interpolation from one sample to the next.
    ///
    /// - Parameters:
    ///   - from: The earlier sample.
    ///   - to: The later sample, with a later time.
    ///   - viewport: Size of the view in screen pixels.
    public init(from: PanTraceSample, to: PanTraceSample, viewport: PanTraceHeader.Size) {
        self.from = from
        self.to = to
        let larger = max(from.scale, to.scale)
        let smaller = min(from.scale, to.scale)
        isJump =
            larger / smaller > 1.4142135623730951
            || (to.center.x - from.center.x).magnitude * larger > viewport.width / 2
            || (to.center.y - from.center.y).magnitude * larger > viewport.height / 2
        let turn = to.rotation - from.rotation
        // Half a turn stays as it is.
        self.turn = turn - (turn / (2 * .pi)).rounded(.toNearestOrEven) * (2 * .pi)
        octaves = isJump || from.scale == to.scale ? 0 : PortableMath.log2(to.scale / from.scale)
    }

    /// Returns the view at a time. It is at least the earlier sample's and before the later one's.
    public func sample(at time: Int64) -> PanTraceSample {
        var sample = from
        sample.time = time
        guard !isJump, time != from.time else { return sample }
        let part = Double(time - from.time) / Double(to.time - from.time)
        sample.center.x += (to.center.x - from.center.x) * part
        sample.center.y += (to.center.y - from.center.y) * part
        sample.rotation += turn * part
        // An equal scale must stay equal: a power of two without its last bit would select another level.
        if octaves != 0 { sample.scale *= PortableMath.exp2(octaves * part) }
        return sample
    }
}
