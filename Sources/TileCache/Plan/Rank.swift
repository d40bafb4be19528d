/// How much a tile is wanted, the most first: the order in which a plan loads.
///
/// One exception: in motion a few urgent prefetches precede the needed tiles of their view.
package enum Rank: UInt8, CaseIterable, Comparable, Sendable {
    /// The tile is pinned.
    case pin
    /// Fallback for needed tiles that have none.
    case fallback
    /// A view needs it now.
    case demand
    /// A host has requested it.
    case fetch
    /// Drawn for good in place of needed tiles that will not come.
    case ancestor
    /// In a host's margin around what shows.
    case margin
    /// Under the declared destination of a view.
    case destination
    /// To be prefetched once, for the application.
    case asked
    /// It may be needed soon.
    case prefetch

    /// Whether a view or a request needs it.
    var isNeed: Bool { self == .demand || self == .fetch }
    /// Whether it waits for needed tiles, and evicts only what is worth less.
    var isExtra: Bool { self >= .ancestor }
    /// Whether it is loaded ahead of need.
    var isPrefetch: Bool { self >= .destination }

    /// Worth of a tile that no policy values: more than any guess, less than a needed tile.
    var value: Float { isPrefetch ? 1000 : isExtra ? 2000 : .infinity }

    package static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// A tile that is wanted by itself, not as a part of what a view shows.
struct WantedTile: Hashable, Sendable {
    var key: TileKey
    var rank: Rank
    /// Whether its near entry turned out to be of no use, so that it waits for the ceilings on requests.
    var needsSource = false
}
