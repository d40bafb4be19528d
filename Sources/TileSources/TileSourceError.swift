/// Why a source cannot be opened: which file or address, and what was expected of it.
public struct TileSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, folder or address.
    public let subject: String
    /// What is wrong with it, and what was expected.
    public let message: String

    /// Names what is wrong.
    public init(_ subject: String, _ message: String) {
        self.subject = subject
        self.message = message
    }

    /// A full sentence for a log or a terminal.
    public var description: String { "\(subject): \(message)" }
}
