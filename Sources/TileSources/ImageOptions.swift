public import TileCache

/// How an ``ImageTileSource`` cuts its image.
public struct ImageOptions: Hashable, Sendable {
    /// Bytes that cutting may take in memory; 512 MiB unless given. An image that needs more is refused before anything
    /// is decoded. See ``ImageTileSource/cuttingBytes`` for what is needed.
    public var memoryLimit: Int
    /// Bytes that the cut tiles may take on disk; 64 GiB unless given.
    public var diskLimit: Int
    /// Where the file of tiles lies while the source lives; `TMPDIR` or else `/var/tmp` unless given. It has no name:
    /// nothing is left behind, however the program ends.
    public var folder: String?
    /// How pixels are averaged for the coarser levels; as they are stored unless given.
    public var downsampling: Downsampling

    /// Makes options.
    public init(
        memoryLimit: Int = 512 << 20,
        diskLimit: Int = 64 << 30,
        folder: String? = nil,
        downsampling: Downsampling = .linear
    ) {
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
        self.folder = folder
        self.downsampling = downsampling
    }
}
