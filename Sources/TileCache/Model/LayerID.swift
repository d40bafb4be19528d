/// A layer of one cache; handed out by `TileCache.addLayer`.
public struct LayerID: Hashable, Sendable, Comparable {
    /// The layer's number in its cache, from 0 in the order of adding.
    public let index: Int

    init(_ index: Int) { self.index = index }

    /// Orders by age.
    public static func < (a: LayerID, b: LayerID) -> Bool { a.index < b.index }
}
