import CTileCurl

/// An http or https address, parsed by libcurl.
struct HTTPAddress {
    /// Scheme, host and port: secrets of one origin are not sent to another.
    let origin: [String]
    let user: String?
    let password: String?

    /// The origin for messages, `https://server:443`.
    var server: String { "\(origin[0])://\(origin[1]):\(origin[2])" }

    /// Parses an address; `nil` if it is not http or https.
    init?(_ text: String) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &value, UInt32(flags)) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme),
            let host = part(CURLUPART_HOST)?.lowercased(), let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT)
        else { return nil }
        origin = [scheme, host, port]
        user = part(CURLUPART_USER, CURLU_URLDECODE)
        password = part(CURLUPART_PASSWORD, CURLU_URLDECODE)
    }

    /// Whether a text is an address on a server rather than a path.
    static func begins(_ text: String) -> Bool {
        let lower = text.lowercased()
        return lower.hasPrefix("http://") || lower.hasPrefix("https://")
    }

    /// Refuses what is no address of http or https.
    ///
    /// - Parameter subject: Text with the address, for the message.
    static func check(_ address: String, _ subject: String) throws(TileSourceError) {
        guard HTTPAddress.begins(address) else {
            throw TileSourceError(subject, "an address that begins with http:// or https:// was expected")
        }
        guard HTTPAddress(address) != nil else {
            throw TileSourceError(
                subject,
                "a valid address was expected: with a server, a port of at most 65535 if any, and %20 for spaces"
            )
        }
    }
}
