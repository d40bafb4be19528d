import TileCache

/// Keys of values on the servers. At most 250 bytes of printable ASCII, a limit of memcached.
enum SharedName {
    /// Most copies of a generation.
    static let generationCopies = 4

    /// The entry of a tile.
    static func entry(_ key: TileStoreKey) -> String { "tc1:" + tail(key) }

    /// The lock of a tile: present while a process loads it.
    static func lock(_ key: TileStoreKey) -> String { "tl1:" + tail(key) }

    /// A copy of the generation of a namespace.
    static func generation(_ namespace: TileStoreNamespace, copy: Int) -> String { "tg1:\(namespace):\(copy)" }

    private static func tail(_ key: TileStoreKey) -> String {
        "\(key.namespace):\(key.tile.level):\(key.tile.column):\(key.tile.row)"
    }
}
