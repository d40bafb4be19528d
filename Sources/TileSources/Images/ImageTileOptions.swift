public import TileCache

/// Options for cutting the image of an ``ImageTileSource``.
public struct ImageTileOptions: Hashable, Sendable {
    /// Maximum memory for cutting. Default: 512 MiB. An image that needs more (``ImageTileSource/cuttingMemory``) is
    /// refused before it is decoded.
    public var memoryLimit: ByteCount
    /// Maximum disk space of the cut tiles. Default: 64 GiB.
    public var diskLimit: ByteCount
    /// Folder of the file of tiles while the source exists. Default: `TMPDIR`, else `/var/tmp`. The file has no name:
    /// nothing remains, however the program ends.
    public var folder: String?
    /// How pixels are averaged for the coarser levels. Default: as stored.
    public var downsampling: TileDownsampling

    /// Creates options.
    public init(
        memoryLimit: ByteCount = .mebibytes(512),
        diskLimit: ByteCount = .gibibytes(64),
        folder: String? = nil,
        downsampling: TileDownsampling = .linear
    ) {
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
        self.folder = folder
        self.downsampling = downsampling
    }
}
