/// Reason why a source cannot be opened: the file or address, and what was expected.
public struct TileSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, folder or address.
    public let subject: String
    /// Description of the problem and of what was expected.
    public let message: String

    /// Creates an error.
    public init(_ subject: String, _ message: String) {
        self.subject = subject
        self.message = message
    }

    /// A full sentence for a log or a terminal.
    public var description: String { "\(subject): \(message)" }
}
