/// What a person at the terminal can mend, in one sentence: what is wrong, where, and what was expected.
public struct ViewerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public var description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}
