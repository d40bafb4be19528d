import TileCache

/// Until when an answer of a server is valid, for a private cache (RFC 9111).
///
/// Pure. Times are whole seconds since 1970, UTC. Sums are clamped, so that no header can overflow one.
struct HTTPFreshness: Equatable {
    /// When the headers came.
    var received: Int64
    /// When it stops being fresh. May be before `received`.
    var expires: Int64
    /// Until when it may be drawn while it is revalidated; `expires` or later.
    var usableUntil: Int64
    /// Whether stores may keep it.
    var isStorable = true
    /// Whether the server states a lifetime; else it is a guess.
    var isExplicit = false

    /// Lifetime without any statement of the server, in seconds.
    static let guess: Int64 = 3600
    /// Maximum of a lifetime that is guessed from `Last-Modified`, in seconds.
    static let longestGuess: Int64 = 86_400

    /// Applies the rules to the headers of an answer.
    ///
    /// The lifetime is `max-age`, else `Expires` less `Date`. Without both it is a tenth of the time since
    /// `Last-Modified`, at most a day, and without that an hour. The age is the larger one of `Age`, with the time that
    /// the answer took, and the time since `Date`.
    ///
    /// - Parameters:
    ///   - headers: Headers of the answer.
    ///   - requested: When the request was sent.
    ///   - received: When the headers came.
    ///   - usesStale: Seconds for which an expired answer may be drawn while it is revalidated, if the server states
    ///     neither `stale-while-revalidate` nor `stale-if-error`; the larger one of both counts. Nothing expired may be
    ///     drawn after `must-revalidate` and `no-cache`.
    ///   - previous: Freshness of the answer that a status 304 confirms. Its lifetime stays if the headers have neither
    ///     `Cache-Control` nor `Expires`.
    init(
        _ headers: HTTPCacheHeaders,
        requested: Int64,
        received: Int64,
        usesStale: Int64,
        confirming previous: TileStoreFreshness? = nil
    ) {
        let control = CacheControl(headers.cacheControl ?? "")
        let date = headers.date.flatMap { HTTPDate.parse($0, now: received) }
        let apparentAge = max(received.subtractingClamped(date ?? received), 0)
        let statedAge = headers.age.flatMap { CacheControl.seconds($0) }
        let delay = max(received.subtractingClamped(requested), 0)
        let age = max(apparentAge, statedAge?.addingClamped(delay) ?? 0)
        let modified = (headers.lastModified ?? previous?.lastModified).flatMap { HTTPDate.parse($0, now: received) }

        let lifetime: Int64
        var stale = max(usesStale, 0)
        if control.isNoCache || headers.variesAlways {
            lifetime = 0
            isExplicit = true
        } else if let maximumAge = control.maximumAge {
            lifetime = maximumAge
            isExplicit = true
        } else if let expires = headers.expires {
            let end = HTTPDate.parse(expires, now: received)
            lifetime = end.map { max($0.subtractingClamped(date ?? received), 0) } ?? 0
            isExplicit = true
        } else if headers.cacheControl == nil, let previous, let expires = previous.expires {
            lifetime = max(expires.subtractingClamped(previous.stored), 0)
            stale = max((previous.usableUntil ?? expires).subtractingClamped(expires), 0)
        } else if let modified {
            lifetime = min(max((date ?? received).subtractingClamped(modified) / 10, 0), Self.longestGuess)
        } else {
            lifetime = Self.guess
        }

        if control.mustRevalidate || control.isNoCache || headers.variesAlways {
            stale = 0
        } else if control.staleWhileRevalidate != nil || control.staleIfError != nil {
            stale = max(control.staleWhileRevalidate ?? 0, control.staleIfError ?? 0)
        }
        self.received = received
        expires = received.addingClamped(min(lifetime, CacheControl.longest)).subtractingClamped(age)
        // The largest number means "never" in a store.
        expires = min(expires, .max - 1)
        usableUntil = min(expires.addingClamped(stale), .max - 1)
        isStorable = !control.isNoStore
    }

    /// Shortens the validity to that of a redirection on the way to the answer.
    ///
    /// A temporary redirection without a stated lifetime is not kept: the tile may be elsewhere the next time.
    mutating func limit(by redirection: HTTPFreshness, isPermanent: Bool) {
        isStorable = isStorable && redirection.isStorable
        guard redirection.isExplicit || !isPermanent else { return }
        let stale = redirection.usableUntil.subtractingClamped(redirection.expires)
        let end = redirection.isExplicit ? redirection.expires : redirection.received
        expires = min(expires, end)
        usableUntil = min(usableUntil, end.addingClamped(stale))
    }

    /// The form that a tile and stores keep.
    func stored(entityTag: String? = nil, lastModified: String? = nil) -> TileStoreFreshness {
        TileStoreFreshness(
            stored: received,
            expires: expires,
            usableUntil: usableUntil,
            entityTag: entityTag,
            lastModified: lastModified,
            isStorable: isStorable
        )
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
