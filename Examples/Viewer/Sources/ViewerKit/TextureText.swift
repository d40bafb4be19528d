/// Use of texture slots, for the overlay and the summary.
public struct TextureText: Hashable, Sendable {
    /// Number of slots in use.
    public var used = 0
    /// Number of slots.
    public var limit = 0
    /// Slots with which the view would need no coarser levels.
    public var needed = 0
    /// Octaves by which the view is coarser.
    public var levelBias = 0.0
    /// Uploads of the last frame.
    public var uploads = 0
    /// Uploads since the start.
    public var allUploads = 0
    /// Maximum bytes that a frame has uploaded since the start.
    public var peakBytes = 0
    /// Maximum bytes that a frame may upload.
    public var budget = 0

    /// Creates figures of no slots.
    public init() {}

    /// Lines of the overlay.
    public var lines: [String] {
        let coarser = levelBias > 0 ? ", coarser by \(hundredths(levelBias))" : ""
        return [
            "slots \(used) of \(limit), needed \(needed)\(coarser)",
            "uploads \(uploads) now, \(allUploads) in all",
            "  at most \(hundredths(Double(peakBytes) / 1e6)) of \(hundredths(Double(budget) / 1e6)) MB a frame",
        ]
    }

    /// Maximum bytes of the slots if their number was not requested: 512 MiB, or one slot if that is larger.
    static let defaultBytes = 512 << 20

    /// Maximum bytes of a frame's uploads.
    ///
    /// - Parameters:
    ///   - requested: Number that the user gave; `nil` for none.
    ///   - slotBytes: Bytes of a slot's pixels.
    /// - Returns: What was requested, or 4 MB, or one slot if that is larger.
    /// - Throws: ``ViewerError`` if less than one slot was requested.
    public static func uploadBudget(requested: Int?, slotBytes: Int) throws(ViewerError) -> Int {
        guard let requested else { return max(4_000_000, slotBytes) }
        guard requested >= slotBytes else {
            throw ViewerError("--upload-budget: at least \(slotBytes)B was expected, which a tile takes")
        }
        return requested
    }

    /// Number of slots to use.
    ///
    /// - Parameters:
    ///   - requested: Number that the user gave; `nil` for none.
    ///   - needed: Slots with which the view needs no coarser levels; 0 if unknown.
    ///   - current: Number in use. It is kept unless it is too small or twice too large: another number means another
    ///   texture, and a turning view needs another number in each frame.
    ///   - maximum: Maximum of the graphics library.
    ///   - slotBytes: Bytes of a slot's pixels.
    /// - Returns: What was requested, or 256 or more in steps of 128, within ``defaultBytes``.
    public static func slots(requested: Int?, needed: Int, current: Int, maximum: Int, slotBytes: Int) -> Int {
        if let requested { return min(max(requested, 1), max(maximum, 1)) }
        let maximum = max(min(maximum, defaultBytes / max(slotBytes, 1)), 1)
        let wanted = min(max(256, needed), maximum)
        if current >= wanted, current <= min(2 * wanted, maximum) { return current }
        return min((wanted + 127) / 128 * 128, maximum)
    }
}

/// A number with two decimals.
private func hundredths(_ number: Double) -> String {
    let count = Int((max(number, 0) * 100).rounded())
    return "\(count / 100).\(count % 100 < 10 ? "0" : "")\(count % 100)"
}
