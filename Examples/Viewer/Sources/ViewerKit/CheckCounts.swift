/// What a comparison of a renderer with compositions has covered.
public struct CheckCounts: Hashable, Sendable {
    /// Frames that were drawn.
    public var frames = 0
    /// Frames with an upload.
    public var framesWithUploads = 0
    /// Maximum bytes that a frame has uploaded.
    public var largestUpload = 0
    /// Pixels compared.
    public var difference = Composition.Difference()

    /// Creates counts of nothing.
    public init() {}

    /// Adds a frame.
    public mutating func add(uploadedBytes: Int, _ difference: Composition.Difference) {
        frames += 1
        framesWithUploads += uploadedBytes > 0 ? 1 : 0
        largestUpload = max(largestUpload, uploadedBytes)
        self.difference += difference
    }

    /// What was not covered, without which a comparison shows nothing; `nil` if all was.
    ///
    /// - Parameter needsExact: Whether tiles at whole positions were drawn. A recorded trace may have none.
    public func gap(needsExact: Bool) -> String? {
        if frames == 0 { return "no frame was drawn" }
        if framesWithUploads == 0 { return "no tile was uploaded" }
        if difference.exact + difference.weighted == 0 { return "no pixel of a tile was compared" }
        if needsExact, difference.exact == 0 { return "no pixel of a tile was compared exactly" }
        return nil
    }
}
