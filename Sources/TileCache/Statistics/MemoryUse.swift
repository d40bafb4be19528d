extension TileCacheStatistics {
    /// What a cache holds now, and at most held.
    public struct MemoryUse: Hashable, Sendable {
        /// The limit in force: the cache's own, or a part of it while the system is short of memory.
        public internal(set) var limit = ByteCount.bytes(0)
        /// The largest ``TileView/shortfall`` of all views: the size of one screen's tiles if the limit is too small for
        /// them, else 0.
        public internal(set) var shortfall = ByteCount.bytes(0)
        /// Everything with memory behind it: slots, pages, tables, scratch.
        public internal(set) var used = ByteCount.bytes(0)
        /// The largest that `used` has been.
        public internal(set) var peak = ByteCount.bytes(0)
        /// Decoded tiles, loads in flight included.
        public internal(set) var decoded = ByteCount.bytes(0)
        /// Pages that hold compressed tiles.
        public internal(set) var compressed = ByteCount.bytes(0)
        /// What loads in flight have reserved, and the encoded bytes that sources say they hold.
        public internal(set) var inFlight = ByteCount.bytes(0)
        /// Tables and scratch memory.
        public internal(set) var bookkeeping = ByteCount.bytes(0)
        /// Pinned tiles that are decoded now.
        public internal(set) var pinned = ByteCount.bytes(0)
        /// The largest that decoded tiles have been.
        public internal(set) var peakDecoded = ByteCount.bytes(0)
        /// The largest that `compressed` has been.
        public internal(set) var peakCompressed = ByteCount.bytes(0)
        /// The largest that reservations have been.
        public internal(set) var peakInFlight = ByteCount.bytes(0)
        /// Decoded tiles.
        public internal(set) var decodedTiles = 0
        /// Compressed tiles.
        public internal(set) var compressedTiles = 0
        /// Pinned tiles that are decoded.
        public internal(set) var pinnedTiles = 0
        /// Finished loads that are resident and have not been drawn.
        public internal(set) var unseenTiles = 0
        /// Of those, the prefetched ones.
        public internal(set) var unseenPrefetchedTiles = 0

        /// Nothing is held.
        public init() {}
    }
}
