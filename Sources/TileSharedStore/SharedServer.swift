/// Address of a memcached server.
public struct SharedServer: Hashable, Sendable, CustomStringConvertible {
    /// Port of memcached, used if an address names none.
    public static let standardPort = 11_211
    static let ports = 1...65_535
    /// libmemcached ends the process beyond `MEMCACHED_CONTINUUM_SIZE`, which is a hundred servers.
    static let mostServers = 100

    /// Name or IP address of the host.
    public var host: String
    /// TCP port, 1 to 65,535.
    public var port: Int

    /// Creates an address without checking it. Default port: 11,211.
    public init(host: String, port: Int = standardPort) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    ///
    /// - Throws: ``TileSharedStoreError``, which names the text and what was expected.
    public init(_ text: some StringProtocol) throws(TileSharedStoreError) {
        func fail(_ expected: String) -> TileSharedStoreError { TileSharedStoreError("server '\(text)': \(expected)") }
        var rest = Substring(text)
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw fail("']' was expected after the address") }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = String(rest[..<end])
            rest = rest[end...]
        }
        // What libmemcached would read as an option, a path or a second server.
        guard !host.isEmpty, host.utf8.count <= 255, !host.hasPrefix("-"),
            host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 44 && $0 != 47 })
        else { throw fail("HOST, HOST:PORT or [ADDRESS]:PORT was expected") }
        guard !rest.isEmpty else {
            port = Self.standardPort
            return
        }
        // Int alone would take a sign.
        guard rest.first == ":", rest.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(rest.dropFirst()), Self.ports.contains(number)
        else { throw fail("a port from 1 to 65535 was expected") }
        port = number
    }

    /// Reads a list with commas between the servers.
    ///
    /// - Throws: ``TileSharedStoreError`` for the first that is no address, or if there is none or over 100.
    public static func list(_ text: String) throws(TileSharedStoreError) -> [SharedServer] {
        let parts = text.split(separator: ",", maxSplits: mostServers, omittingEmptySubsequences: false)
        guard parts.count <= mostServers else {
            throw TileSharedStoreError("servers: at most \(mostServers) were expected")
        }
        var servers: [SharedServer] = []
        for part in parts { servers.append(try SharedServer(part)) }
        return servers
    }

    /// `HOST:PORT`, or `[ADDRESS]:PORT` if the host contains a colon.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A setting of a shared store that cannot be used.
public struct TileSharedStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was given, and what was expected.
    public let description: String

    init(_ description: String) { self.description = description }
}
