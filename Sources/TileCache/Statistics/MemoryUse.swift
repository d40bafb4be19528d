extension TileCacheStatistics {
    /// Memory of a cache: present and peak sizes.
    public struct MemoryUse: Hashable, Sendable {
        /// Limit in force: the cache's own, or a part of it under memory pressure.
        public internal(set) var limit = ByteCount.bytes(0)
        /// Largest ``TileView/shortfall`` of all views. The size of one screen's tiles if they have no room,
        /// otherwise 0.
        public internal(set) var shortfall = ByteCount.bytes(0)
        /// All memory in use: slots, pages, tables, scratch.
        public internal(set) var used = ByteCount.bytes(0)
        /// Peak of `used`.
        public internal(set) var peak = ByteCount.bytes(0)
        /// Decoded tiles, including loads in flight.
        public internal(set) var decoded = ByteCount.bytes(0)
        /// Pages of compressed tiles.
        public internal(set) var compressed = ByteCount.bytes(0)
        /// Reservations of loads in flight, and the encoded bytes that sources report.
        public internal(set) var inFlight = ByteCount.bytes(0)
        /// Tables and scratch memory, and memory that sources report.
        public internal(set) var bookkeeping = ByteCount.bytes(0)
        /// Part of `bookkeeping` for stores: their buffers, filters and connections, and tiles on their way to them.
        ///
        /// Stores are asked to keep to an eighth of the limit in force.
        public internal(set) var stores = ByteCount.bytes(0)
        /// Pinned tiles that are decoded now.
        public internal(set) var pinned = ByteCount.bytes(0)
        /// Peak of decoded tiles, without loads in flight.
        public internal(set) var peakDecoded = ByteCount.bytes(0)
        /// Peak of `compressed`.
        public internal(set) var peakCompressed = ByteCount.bytes(0)
        /// Peak of reservations.
        public internal(set) var peakInFlight = ByteCount.bytes(0)
        /// Decoded tiles.
        public internal(set) var decodedTiles = 0
        /// Compressed tiles.
        public internal(set) var compressedTiles = 0
        /// Pinned tiles that are decoded.
        public internal(set) var pinnedTiles = 0
        /// Finished loads that are resident and have not been drawn.
        public internal(set) var unseenTiles = 0
        /// Unseen tiles that were prefetched.
        public internal(set) var unseenPrefetchedTiles = 0

        /// All sizes are 0.
        package init() {}
    }
}
