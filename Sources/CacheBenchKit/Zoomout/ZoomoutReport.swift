import TileCache

/// Memory of a view that zooms out, drawn in three ways, with the cache's peak.
package struct ZoomoutReport: Encodable, Sendable {
    /// One zoom-out and back.
    package struct Row: Encodable, Sendable, Hashable {
        /// Maximum zoom-out factor from 1:1.
        package var factor: Double
        /// Bytes of one bitmap of the visible area, drawn smaller.
        package var bitmapBytes: Int
        /// Bytes of all tiles of the finest level under the farthest view.
        package var fullResolutionBytes: Int
        /// Tiles of the ideal level under the farthest view.
        package var neededTiles: Int
        package var neededBytes: Int
        /// Peak of the cache, tables and scratch memory included.
        package var peakBytes: Int
        /// Hit rate of the demands of the whole session.
        @Nullable package var hitRate: Double?
        /// Fraction of the view drawn exactly, over frames that moved or lacked a tile.
        @Nullable package var sharp: Double?
        /// Fraction of the view that is blank.
        @Nullable package var blank: Double?
    }

    /// Conditions that hold on any machine.
    package struct Checks: Encodable, Sendable, Hashable {
        /// Bound on needed tiles, (ceil(2w/T) + 1)(ceil(2h/T) + 1).
        package var tileBound: Int
        /// Maximum number of tiles that any frame needed.
        package var mostNeededTiles: Int
        package var byteLimit: Int
        package var largestPeakBytes: Int
        /// The largest peak over the median of the rows' peaks. At most 1.1 with eight rows or more, since the first
        /// ones may end before the cache is full.
        @Nullable package var largestToMedianPeak: Double?
        /// Whether all hold. False without a row: there is nothing to check.
        package var passed: Bool
        /// Decoded bytes of the most tiles that any frame needed, without tables.
        ///
        /// Counts tiles of the ideal level, even if a coarser one is drawn because they exceed the limit.
        package var screenBytes = 0
        /// Bytes of those beyond the limit; 0 if they fit.
        package var shortfallBytes = 0

        /// The first condition that does not hold, of a report with rows.
        var failure: String? {
            if passed { return nil }
            if mostNeededTiles > tileBound { return "a frame needed more tiles than the bound" }
            if largestPeakBytes > byteLimit { return "the peak is above the limit" }
            return "the peak is over 1.1 times the median"
        }
    }

    package var schema = 1
    package var configuration: [String: ConfigurationValue]
    package var rows: [Row]
    package var checks: Checks
    /// Whether it was stopped early; then rows are missing.
    package var interrupted = false

    init(
        configuration: [String: ConfigurationValue],
        rows: [Row],
        tileBound: Int,
        mostNeededTiles: Int,
        unfittedBytes: Int = 0,
        missingBytes: Int = 0,
        byteLimit: Int,
        interrupted: Bool = false
    ) {
        self.configuration = configuration
        self.rows = rows
        self.interrupted = interrupted
        let peaks = rows.map(\.peakBytes).sorted()
        let ratio = peaks.isEmpty ? nil : Double(peaks[peaks.count - 1]) / Double(max(peaks[peaks.count / 2], 1))
        let tileBytes = rows.first.map { $0.neededBytes / max($0.neededTiles, 1) } ?? 0
        let screenBytes = max(mostNeededTiles * VirtualCache.slotBytes(ofTile: tileBytes), unfittedBytes)
        let isFlat = peaks.count < 8 || ratio.map { $0 <= 1.1 } ?? true
        checks = Checks(
            tileBound: tileBound,
            mostNeededTiles: mostNeededTiles,
            byteLimit: byteLimit,
            largestPeakBytes: peaks.last ?? 0,
            largestToMedianPeak: ratio,
            passed: !rows.isEmpty && mostNeededTiles <= tileBound && (peaks.last ?? 0) <= byteLimit && isFlat,
            screenBytes: screenBytes,
            shortfallBytes: max(screenBytes - byteLimit, missingBytes, 0)
        )
    }
}
