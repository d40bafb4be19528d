/// Stores of a layer, nearest first, and the name of the layer's data in them.
///
/// Tiles are looked up in the stores, in order, before they are requested from the source. Tiles of the source are
/// written to all of them, tiles of a store to the nearer ones. A store may serve several layers and caches; the
/// application opens and closes it.
public struct LayerStores: Hashable, Sendable {
    /// The stores, at most 32. For example one on disk, then one that other processes share.
    public var stores: [any TileStore]
    /// Identity of the data, such as a file's path, size and modification time. Or a server's address template. Data
    /// that differ must not have equal names: their tiles would be exchanged.
    ///
    /// The cache adds all options of the layer that affect pixels, and the shape of its pyramid.
    public var dataSet: [String]

    /// Creates a list.
    public init(_ stores: [any TileStore], dataSet: [String]) {
        self.stores = stores
        self.dataSet = dataSet
    }

    /// Equal if the stores are the same objects and the data have the same name.
    public static func == (a: Self, b: Self) -> Bool {
        a.dataSet == b.dataSet && a.stores.map { ObjectIdentifier($0) } == b.stores.map { ObjectIdentifier($0) }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(dataSet)
        for store in stores { hasher.combine(ObjectIdentifier(store)) }
    }
}
