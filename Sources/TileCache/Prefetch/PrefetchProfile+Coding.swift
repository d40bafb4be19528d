extension PrefetchProfile {
    /// First bytes of a profile.
    private static let magic = Array("TileCache profile\n".utf8)
    /// Incremented when the bins or the format change.
    /// 2 since there are bins of zooms in progress, 3 since there are those of views that have settled on a level.
    private static let version: UInt64 = 3

    /// Maximum number of ``bytes``, places included.
    package static let maximumBytes = byteCount(counters: 2 * PlaceSketch.width)

    /// Bytes of a profile with a number of counters of places.
    private static func byteCount(counters: Int) -> Int {
        magic.count + 5 * 8 + CandidateBin.placedCount * 24 + counters * 2 + 16
    }

    /// The profile as bytes: a header, counts, places, and a checksum. All numbers are little-endian.
    public var bytes: [UInt8] {
        var written = Self.magic
        func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.littleEndian) { written += $0 } }
        add(Self.version)
        add(UInt64(sessions))
        add(UInt64(CandidateBin.placedCount))
        add(UInt64(places?.sessions ?? 0))
        add(UInt64(places?.counters.count ?? 0))
        for bin in bins.events.indices {
            for count in [bins.events[bin], bins.needed[bin], bins.soon[bin]] { add(count.bitPattern) }
        }
        for counter in places?.counters ?? [] { add(counter) }
        let check = SipHash128.hash(written)
        add(check.0)
        add(check.1)
        return written
    }

    /// Reads a profile.
    ///
    /// - Throws: ``TileCacheError/invalidProfile(_:)`` if the bytes are not a profile of this version, or damaged.
    public init(bytes: [UInt8]) throws(TileCacheError) {
        func fail(_ field: String, _ expected: String) -> TileCacheError {
            .invalidProfile("\(field): expected \(expected)")
        }
        guard bytes.starts(with: Self.magic) else {
            throw fail("first bytes", "'TileCache profile' and a line feed")
        }
        var reader = Reader(bytes: bytes, place: Self.magic.count)
        guard bytes.count >= Self.magic.count + 7 * 8 else {
            throw fail("length", "at least \(Self.magic.count + 7 * 8) bytes, not \(bytes.count)")
        }
        let version = reader.word()
        guard version == Self.version else { throw fail("version", "\(Self.version), not \(version)") }
        let (sessions, bins, placeSessions, counters) = (reader.word(), reader.word(), reader.word(), reader.word())
        guard sessions <= UInt64(Self.maximumSessions) else { throw fail("sessions", "at most 2^48, not \(sessions)") }
        guard bins == CandidateBin.placedCount else {
            throw fail("bins", "\(CandidateBin.placedCount), not \(bins)")
        }
        guard counters == 0 || counters == 2 * PlaceSketch.width else {
            throw fail("counters of places", "0 or \(2 * PlaceSketch.width), not \(counters)")
        }
        guard placeSessions <= sessions, counters > 0 || placeSessions == 0 else {
            let most = counters > 0 ? "at most \(sessions)" : "0, without places"
            throw fail("sessions with places", "\(most), not \(placeSessions)")
        }
        let length = Self.byteCount(counters: Int(counters))
        guard bytes.count == length else { throw fail("length", "\(length) bytes, not \(bytes.count)") }
        let check = SipHash128.hash(Array(bytes[..<(length - 16)]))
        var end = Reader(bytes: bytes, place: length - 16)
        guard (end.word(), end.word()) == check else { throw fail("checksum", "that of the bytes before it") }
        var counts = BinCounts(count: Int(bins))
        for bin in 0..<Int(bins) {
            let (events, needed, soon) = (reader.number(), reader.number(), reader.number())
            guard events <= BinCounts.maximum, soon >= 0, soon <= needed, needed <= events else {
                throw fail("bin \(bin)", "0 <= soon <= needed <= events <= 2^48, not \(soon), \(needed) and \(events)")
            }
            (counts.events[bin], counts.needed[bin], counts.soon[bin]) = (events, needed, soon)
        }
        var places: PlaceSketch?
        if counters > 0 {
            let values = (0..<Int(counters)).map { index in
                UInt16(bytes[reader.place + 2 * index]) | UInt16(bytes[reader.place + 2 * index + 1]) << 8
            }
            places = PlaceSketch(sessions: Int(placeSessions), counters: values)
        }
        self.init(sessions: Int(sessions), bins: counts, places: places)
    }

    private struct Reader {
        let bytes: [UInt8]
        var place: Int

        mutating func word() -> UInt64 {
            defer { place += 8 }
            return (0..<8).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
        }

        mutating func number() -> Double { Double(bitPattern: word()) }
    }
}
