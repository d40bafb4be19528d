/// What a view needs that zooms out, drawn in three ways, and what the cache held.
package struct ZoomoutReport: Codable, Sendable {
    /// One zoom-out, there and back.
    package struct Row: Codable, Sendable, Hashable {
        /// How many times farther out than 1:1 the view came.
        package var factor: Double
        /// Of one bitmap of all that is seen, drawn smaller.
        package var bitmapBytes: Int
        /// Of all tiles of the finest level under the farthest view.
        package var fullResolutionBytes: Int
        /// Tiles of the ideal level under the farthest view.
        package var neededTiles: Int
        /// Of those.
        package var neededBytes: Int
        /// The most that the cache held at any moment, tables and scratch memory included.
        package var peakBytes: Int
        /// Over the demands of the whole way.
        @Nullable package var hitRate: Double?
        /// Share of the view drawn with exact tiles, over frames that moved or lacked a tile.
        @Nullable package var sharp: Double?
        /// Share of the view with nothing at all.
        @Nullable package var blank: Double?
    }

    /// What must hold whatever the machine.
    package struct Checks: Codable, Sendable, Hashable {
        /// The bound on needed tiles, (ceil(2w/T) + 1)(ceil(2h/T) + 1).
        package var tileBound: Int
        /// The most tiles that any frame needed.
        package var mostNeededTiles: Int
        /// The limit of everything.
        package var byteLimit: Int
        /// The most that any row's cache held.
        package var largestPeakBytes: Int
        /// The largest peak over the median of the rows' peaks. Must not exceed 1.1 where there are eight rows or more: the
        /// first ones may be over before the cache is full.
        @Nullable package var largestToMedianPeak: Double?
        /// Whether all of it held.
        package var passed: Bool
        /// Bytes of the most tiles that any frame needed, decoded. Tables come on top.
        ///
        /// Tiles count of the right level, also if the limit is too small for them and a coarser one is drawn.
        package var screenBytes = 0
        /// How many of those the limit lacks; 0 if it holds them.
        package var shortfallBytes = 0
    }

    /// The version of these fields.
    package var schema = 1
    /// Every option as it counted.
    package var configuration: [String: ConfigurationValue]
    /// One for each factor.
    package var rows: [Row]
    /// What was checked at every step.
    package var checks: Checks
    /// Whether it was stopped before its end: then rows are missing.
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
        let screenBytes = max(mostNeededTiles * ((tileBytes + 4095) & ~4095), unfittedBytes)
        let isFlat = peaks.count < 8 || ratio.map { $0 <= 1.1 } ?? true
        checks = Checks(
            tileBound: tileBound,
            mostNeededTiles: mostNeededTiles,
            byteLimit: byteLimit,
            largestPeakBytes: peaks.last ?? 0,
            largestToMedianPeak: ratio,
            passed: mostNeededTiles <= tileBound && (peaks.last ?? 0) <= byteLimit && isFlat,
            screenBytes: screenBytes,
            shortfallBytes: max(screenBytes - byteLimit, missingBytes, 0)
        )
    }
}
