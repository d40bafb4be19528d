/// What was learned for prefetching in earlier sessions.
///
/// Set a profile in ``LayerOptions/profile``. At the end of a session add ``TileLayer/learnedProfile()`` with
/// ``merge(_:)`` and save ``bytes``; the library itself does no I/O. It has at most 290 KB, about half of it places.
///
/// - *Places*: in how many sessions each tile was viewed, as a sketch without names. They fit one world with one
///   pyramid. Places reveal which parts of the world were viewed; ``withoutPlaces`` leaves them out.
/// - *Probabilities*: how much popularity matters, for each kind of motion and distance.
///
/// From three sessions on, tiles that were viewed in many sessions are prefetched earlier, and also if they are far
/// away. A profile excludes no prefetch. Without places it changes none.
///
/// A profile does not name its world. In another one its places are misleading, and each view soon gives them little
/// weight.
public struct PrefetchProfile: Hashable, Sendable {
    /// Samples by placed bin.
    private(set) var bins: BinCounts
    /// Views of places; `nil` if they are left out.
    private(set) var places: PlaceSketch?
    /// Number of sessions merged, 0 to 2^48. A sum stops there.
    public private(set) var sessions: Int

    /// Maximum of ``sessions``.
    static let maximumSessions = 1 << 48

    /// Creates an empty profile.
    public init() {
        self.init(sessions: 0, bins: BinCounts(count: CandidateBin.placedCount), places: nil)
    }

    init(sessions: Int, bins: BinCounts, places: PlaceSketch?) {
        (self.sessions, self.bins, self.places) = (sessions, bins, places)
    }

    /// The profile of one session, whose samples are by placed bin.
    init(_ session: SessionSamples) {
        self.init(sessions: 1, bins: session.bins, places: session.viewed.sketch)
    }

    /// Bytes in memory.
    var byteCount: Int { bins.byteCount + (places?.byteCount ?? 0) }

    /// Whether prefetching takes anything from it: it needs the places of a few sessions.
    var isTelling: Bool { (places?.sessions ?? 0) >= PlaceSketch.leastSessions }

    /// Whether it contains places.
    public var hasPlaces: Bool { places != nil }

    /// The same without places: probabilities only.
    public var withoutPlaces: PrefetchProfile {
        PrefetchProfile(sessions: sessions, bins: bins, places: nil)
    }

    /// Adds what was learned in other sessions. The order does not matter, apart from rounding.
    ///
    /// A session must be added once only. Counts stop at a maximum. Beyond 65,535 sessions those of places are
    /// rounded.
    public mutating func merge(_ other: PrefetchProfile) {
        bins.add(other.bins)
        if let theirs = other.places {
            if places == nil { places = theirs } else { places?.add(theirs) }
        }
        sessions = min(sessions + other.sessions, Self.maximumSessions)
    }
}

/// What a policy has learned in its session: samples, and the tiles viewed.
package struct SessionSamples: Sendable {
    /// By placed bin, or by bin if no places were known.
    let bins: BinCounts
    let viewed: ViewedPlaces

    init(bins: BinCounts, viewed: ViewedPlaces) { (self.bins, self.viewed) = (bins, viewed) }

    /// The sum of several views by placed bin, in storage of its own; `nil` without views.
    init?(_ views: [SessionSamples]) {
        guard !views.isEmpty else { return nil }
        var (bins, viewed) = (BinCounts(count: CandidateBin.placedCount), ViewedPlaces())
        for view in views {
            bins.add(view.bins)
            viewed.add(view.viewed)
        }
        self.init(bins: bins, viewed: viewed)
    }
}
