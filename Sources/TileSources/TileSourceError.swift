/// Reason why a source cannot be opened: the file or address, and what was expected.
public struct TileSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, folder or address, without user and password.
    public let subject: String
    /// Description of the problem and of what was expected.
    public let message: String
    /// Cause of the failed read that prevents the opening, if it is one.
    var cause: TileLoadFailureCause?
    /// What a caller may do about it.
    var reason: Reason?

    enum Reason { case missing, cancelled, mayPass }

    /// Creates an error. Users and passwords of addresses are left out of both texts: they are for logs.
    public init(_ subject: String, _ message: String) {
        self.subject = subject.withoutPasswords
        self.message = message.withoutPasswords
    }

    init(_ subject: String, _ failure: TileLoadFailure) {
        self.init(subject, failure.message)
        cause = failure.cause
    }

    init(_ subject: String, _ message: String, _ reason: Reason?) {
        self.init(subject, message)
        self.reason = reason
    }

    /// Whether the file was not read: nothing is known of its content.
    var isOfReading: Bool { cause != nil || reason == .cancelled }

    /// The same, said of a part of the subject.
    func of(_ part: String) -> TileSourceError {
        var error = TileSourceError(subject, "\(part): \(message)", reason)
        error.cause = cause
        return error
    }

    /// A full sentence for a log or a terminal.
    public var description: String { "\(subject): \(message)" }
}

extension String {
    /// The text with `***` for the user and password of each address in it.
    package var withoutPasswords: String {
        guard contains("@") else { return self }
        let parts = split(separator: "://", omittingEmptySubsequences: false)
        let rest = parts.dropFirst().map { part in
            var host = part.prefix { !"/?# ".contains($0) }
            // What is no port may be a password with one of these characters, of an address that cannot be opened.
            let end = host.lastIndex(of: "]").map { host[$0...].dropFirst() } ?? host
            let port = end.firstIndex(of: ":").map { end[$0...].dropFirst() } ?? "0"
            let isPort = !port.isEmpty && port.utf8.allSatisfy { 48...57 ~= $0 }
            if !host.contains("@"), !isPort { host = part.prefix { $0 != " " } }
            return host.lastIndex(of: "@").map { "***" + part[$0...] } ?? String(part)
        }
        return ([String(parts[0])] + rest).joined(separator: "://")
    }
}
