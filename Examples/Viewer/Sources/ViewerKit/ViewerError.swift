/// Error that a user can correct: one sentence with place, problem and expectation.
public struct ViewerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public var description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
