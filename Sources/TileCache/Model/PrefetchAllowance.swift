/// What a layer may load ahead of need. Needed tiles are loaded under any allowance, at once.
///
/// Tiles that the application requests with ``TileLayer/prefetch(_:)`` are loaded under any allowance.
/// They wait for the ceilings of ``priced(_:)``.
public enum PrefetchAllowance: Hashable, Sendable {
    /// Nothing.
    case never
    /// Only tiles that are known to be in a store on this machine. No request leaves the machine.
    case resident
    /// Tiles whose expected use exceeds their price, within ceilings.
    case priced(PrefetchTerms)

    /// Everything that the cache's effort allows. The default.
    public static var standard: PrefetchAllowance { .priced(PrefetchTerms()) }

    /// The first field out of range, in words; `nil` if there is none.
    var problem: String? {
        guard case .priced(let terms) = self else { return nil }
        if let effort = terms.effort, !(effort >= 0 && effort <= 1) {
            return "an effort of 0 to 1, or a price of 0 or more, is expected, not an effort of \(effort)"
        }
        if let requests = terms.requestsPerMinute, requests < 0 {
            return "0 requests a minute or more are expected, not \(requests)"
        }
        return nil
    }
}

/// Effort and ceilings of prefetches.
public struct PrefetchTerms: Hashable, Sendable {
    /// Price at an effort of a half.
    static let priceAtHalf = 0.125

    /// Effort, 0 (only needed tiles) to 1 (everything). Default: `nil`, the cache's.
    public var effort: Double?
    /// The effort as the price of a load that is never drawn, in misses; 0 or more, 0.125 at an effort of 0.5.
    ///
    /// At 0.125 a prefetch is worth its load if it prevents a miss once in nine times.
    public var price: Double? {
        get { effort.map { Self.priceAtHalf * (1 - $0) / $0 } }
        set { effort = newValue.map { $0 >= 0 ? Self.priceAtHalf / (Self.priceAtHalf + $0) : .nan } }
    }
    /// Maximum prefetches from the source within any 60 seconds, 0 or more. Default: `nil`, no maximum.
    ///
    /// A synthesized tile counts as the tiles of the source that it may be made of. Tiles that a store on this machine
    /// is known to have do not count. Other prefetches wait; needed tiles neither wait nor count.
    public var requestsPerMinute: Int?
    /// Maximum decoded bytes of prefetches from the source within any 60 seconds, 0 or more. Default: `nil`, no
    /// maximum. Compressed transfers take less.
    public var bytesPerMinute: ByteCount?

    /// Creates terms.
    ///
    /// - Parameters:
    ///   - price: Sets ``effort`` as ``price``. Default: `nil`, the next parameter does.
    ///   - effort: ``effort``. Default: `nil`, the cache's.
    ///   - requestsPerMinute: ``requestsPerMinute``. Default: `nil`, no maximum.
    ///   - bytesPerMinute: ``bytesPerMinute``. Default: `nil`, no maximum.
    public init(
        price: Double? = nil,
        effort: Double? = nil,
        requestsPerMinute: Int? = nil,
        bytesPerMinute: ByteCount? = nil
    ) {
        self.effort = effort
        self.requestsPerMinute = requestsPerMinute
        self.bytesPerMinute = bytesPerMinute
        if let price { self.price = price }
    }
}
