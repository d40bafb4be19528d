public import TileCache

/// How an ``ImageTileSource`` cuts its image.
public struct ImageTileOptions: Hashable, Sendable {
    /// The most memory for cutting. Default: 512 MiB. An image that needs more (``ImageTileSource/cuttingMemory``) is
    /// refused before anything is decoded.
    public var memoryLimit: ByteCount
    /// The most disk space for the cut tiles. Default: 64 GiB.
    public var diskLimit: ByteCount
    /// The folder of the file of tiles while the source lives. Default: `TMPDIR`, else `/var/tmp`. The file has no name:
    /// nothing is left behind, however the program ends.
    public var folder: String?
    /// How pixels are averaged for the coarser levels. Default: as they are stored.
    public var downsampling: TileDownsampling

    /// Makes options.
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
