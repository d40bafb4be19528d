/// Which of a renderer's textures may go: those that were not drawn for longest, when there are too many.
///
/// The cache says which pixels are the same by their identity, so a texture serves for as long as its identity is drawn.
/// Keeping a few more than are on screen spares uploads when a view turns back.
public struct TextureLedger<Identity: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var lastDrawn: [Identity: Int] = [:]
    private var frame = 0

    /// Makes a ledger.
    ///
    /// - Parameter capacity: textures that may be kept beside those of the frame itself.
    public init(capacity: Int) { self.capacity = capacity }

    /// Textures there are.
    public var count: Int { lastDrawn.count }

    /// Notes that a tile is drawn in this frame.
    ///
    /// - Returns: whether its texture is there; where not, it is to be uploaded now.
    public mutating func draw(_ identity: Identity) -> Bool {
        lastDrawn.updateValue(frame, forKey: identity) != nil
    }

    /// Ends the frame.
    ///
    /// - Returns: what is to go.
    public mutating func endFrame() -> [Identity] {
        defer { frame += 1 }
        let excess = lastDrawn.count - capacity
        guard excess > 0 else { return [] }
        let gone = lastDrawn.filter { $0.value < frame }.sorted { $0.value < $1.value }.prefix(excess).map(\.key)
        for identity in gone { lastDrawn[identity] = nil }
        return gone
    }

    /// Forgets everything, as when the graphics device was lost.
    public mutating func removeAll() { lastDrawn.removeAll() }
}
