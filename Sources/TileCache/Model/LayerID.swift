/// Identity of a layer of one cache: `TileLayer.id`. Ignored by other caches, and after the layer is removed.
public struct LayerID: Hashable, Sendable, Comparable {
    private let number: UInt32
    /// Serial number of the cache in the process.
    let cache: UInt32
    private let place: UInt16

    /// Serial number of the layer in its cache, from 0 in the order of adding. Never reused.
    public var serial: Int { Int(number) }
    /// Index into the cache's tables; reused.
    package var index: Int { Int(place) }

    init(index: Int, serial: Int, cache: UInt32) {
        place = UInt16(index)
        number = UInt32(truncatingIfNeeded: serial)
        self.cache = cache
    }

    /// A layer of no cache, for the decisions of a pool without a service.
    package init(_ index: Int) { self.init(index: index, serial: index, cache: 0) }

    /// Orders by age.
    public static func < (a: LayerID, b: LayerID) -> Bool { (a.cache, a.number) < (b.cache, b.number) }
}
