import TileCache

/// How the rows of an MBTiles file are counted. The format counts from the bottom; some programs write them from the top.
enum MBTilesRows {
    /// What was found out.
    enum Finding: Equatable {
        /// Nothing speaks against the format.
        case asInFormat
        /// With rows from the top the tiles lie within the stated bounds, and otherwise they do not.
        case fromTop
        /// There are no bounds, and the other order would be other places.
        case unknown
        /// The tiles lie elsewhere in either order.
        case elsewhere

        /// A clause for a warning; `nil` if there is nothing to say.
        ///
        /// - Parameter path: Of the file.
        func warning(_ path: String) -> String? {
            switch self {
            case .asInFormat: nil
            case .fromTop:
                "its bounds tell that row 0 is at the top, and it is read so; mbtiles:\(path)#rows=bottom reads it from "
                    + "the bottom, as the format says"
            case .unknown:
                "it states no bounds, so nothing tells whether row 0 is at the bottom, as the format says and it is "
                    + "read; if north and south are exchanged, mbtiles:\(path)#rows=top reads it from the top"
            case .elsewhere: "its tiles lie outside of the bounds that its metadata states"
            }
        }
    }

    /// Rows that tiles may lie beyond the bounds: writers round outwards, and some add a margin.
    private static let margin = 1

    /// Compares the rows of the finest zoom with the bounds.
    ///
    /// - Parameters:
    ///   - rows: As the file counts them; `nil` if they are not known.
    ///   - bounds: In the world's square, with both axes from 0 to 1 and y downwards; `nil` if none are stated.
    static func find(_ rows: ClosedRange<Int>?, zoom: Int, within bounds: PixelRect?) -> Finding {
        guard zoom > 0 else { return .asInFormat }
        guard let bounds else { return .unknown }
        guard let rows else { return .asInFormat }
        let side = 1 << zoom
        let first = Int((bounds.minY * Double(side) + 1e-6).rounded(.down)) - margin
        let last = Int((bounds.maxY * Double(side) - 1e-6).rounded(.up)) - 1 + margin
        let turned = side - 1 - rows.upperBound...side - 1 - rows.lowerBound
        func isWithin(_ rows: ClosedRange<Int>) -> Bool { rows.lowerBound >= first && rows.upperBound <= last }
        if isWithin(turned) { return .asInFormat }
        if isWithin(rows) { return .fromTop }
        // A margin of several tiles, or bounds of a part.
        return turned.overlaps(first...max(first, last)) ? .asInFormat : .elsewhere
    }
}
