import TileCache

/// What is read of a file for a tile: ranges with one plane or mask, or with several that lie beside each other.
struct TIFFParts {
    private(set) var ranges: [Range<Int>] = []
    /// By plane: its part, and its place in it.
    private var places: [(part: Int, range: Range<Int>)]

    /// Bytes between two planes that are read with them: GDAL writes eight.
    private static let widestGap = 64
    /// Bytes of a part with several planes.
    private static let longest = 1 << 19

    /// - Parameters:
    ///   - planes: Places in the file.
    ///   - joins: Whether those that lie beside each other are read together.
    init(_ planes: [Range<Int>], joins: Bool) {
        places = planes.map { (0, 0..<$0.count) }
        for index in planes.indices.sorted(by: { planes[$0].lowerBound < planes[$1].lowerBound }) {
            let range = planes[index]
            if joins, !range.isEmpty, let last = ranges.last, !last.isEmpty,
                range.lowerBound - last.upperBound <= Self.widestGap,
                max(range.upperBound, last.upperBound) - last.lowerBound <= Self.longest
            {
                ranges[ranges.count - 1] = last.lowerBound..<max(range.upperBound, last.upperBound)
            } else {
                ranges.append(range)
            }
            let start = range.lowerBound - ranges[ranges.count - 1].lowerBound
            places[index] = (ranges.count - 1, start..<start + range.count)
        }
    }

    /// The bytes of each plane.
    func planes(_ parts: [RangeBytes]) -> [RangeBytes] {
        places.map { place in
            let part = parts[place.part]
            guard place.range.count < part.count else { return part }
            return .received(part.withBytes { Array($0[place.range]) })
        }
    }
}
