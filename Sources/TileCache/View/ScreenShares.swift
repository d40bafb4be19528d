/// How sharply the screen is drawn: shares of an area, 0 to 1, whose sum is 1.
///
/// The area is that of the layers' tiles on the screen, of all layers together. What is absent at the source counts as drawn
/// sharply from what is there. So does a layer that is drawn at a coarser level for lack of room
/// (``TileFrame/coarsened``): its tiles are those of that level.
public struct ScreenShares: Hashable, Sendable {
    /// Share drawn from exact tiles.
    public let sharp: Double
    /// Share drawn from coarser or finer tiles in place of missing ones.
    public let fallback: Double
    /// Share that is not drawn.
    public let blank: Double
    /// Mean number of levels by which a pixel is drawn too coarse. Finer tiles count as exact, a blank pixel as the number
    /// of levels of its layer.
    public let deficit: Double

    /// All is sharp.
    static let whole = ScreenShares(sharp: 1, fallback: 0, blank: 0, deficit: 0)

    private init(sharp: Double, fallback: Double, blank: Double, deficit: Double) {
        (self.sharp, self.fallback, self.blank, self.deficit) = (sharp, fallback, blank, deficit)
    }

    /// `nil` without an area.
    init?(_ coverage: Coverage) {
        let area = coverage.sharp + coverage.fallback + coverage.blank
        guard area > 0, area.isFinite else { return nil }
        sharp = coverage.sharp / area
        fallback = coverage.fallback / area
        blank = coverage.blank / area
        deficit = coverage.deficit / area
    }
}
