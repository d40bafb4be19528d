extension VirtualCache {
    /// A load, for the driver.
    package struct StartedLoad: Sendable {
        package var layer: Int
        package var tile: TileCoordinate
        package var isDemand: Bool
        package var bytes: Int
    }

    /// Settings of a virtual cache.
    package struct Options: Sendable {
        /// Limit of all bytes.
        package var byteLimit = 64 << 20
        package var grantsBookkeeping = false
        package var usesValues = false
        package var compressedTier = true
        /// Fraction of the limit for the compressed tier; `nil` adapts it.
        package var compressedShare: Double?
        /// Size of a decoded tile relative to its block, 1 or more.
        package var compressionRatio = 2.0
        package var workers = 4
        /// Loads in flight of an asynchronous source; `nil` if each load occupies a worker.
        package var loadsInFlight: LoadsInFlight?
        package var levelBias = 0.0
        package var hysteresis = 0.0
        package var effort = 0.5
        /// Whether a level whose needed tiles exceed the limit is replaced by a coarser one.
        package var fitsBudget = false
        /// Cost of the codec; `nil` for none: compressed tiles can be drawn like decoded ones.
        package var codecCost: CodecCost?
        /// Decoded bytes a second of all loads together, after their latency; `nil` for no limit.
        package var bandwidth: Double?

        package init() {}

        /// The settings of a service that matter without threads and pixels.
        package init(_ configuration: TileCache.Configuration) {
            byteLimit = configuration.byteLimit.bytes
            grantsBookkeeping = configuration.grantsBookkeeping
            usesValues = configuration.usesValues
            compressedTier = configuration.usesCompressedTier
            compressedShare = configuration.compressedShare
            workers = configuration.workers
            effort = configuration.effort
            fitsBudget = configuration.fitsLevelToBudget
        }

        var poolConfiguration: PoolConfiguration {
            var configuration = PoolConfiguration(byteLimit: byteLimit)
            configuration.eviction = usesValues ? .value : .recency
            configuration.compressedTier = compressedTier
            configuration.compressedShare = compressedShare
            configuration.grantsBookkeeping = grantsBookkeeping
            configuration.workers = workers
            configuration.maximumCodecJobs = codecCost?.cores ?? .max
            return configuration
        }
    }
}
