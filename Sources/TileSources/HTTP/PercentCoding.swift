/// Escapes of addresses, `%20` for a space.
enum PercentCoding {
    /// Escapes all but letters, digits and the characters that have no meaning in an address.
    static func encode(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@!$'()*,;".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            bytes += plain.contains(byte) ? [byte] : [37, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces escapes; what is none stays.
    static func decode(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        var (decoded, place) = ([UInt8](), 0)
        while place < bytes.count {
            if bytes[place] == 37, place + 2 < bytes.count, bytes[place + 1] != 43, bytes[place + 1] != 45,
                let byte = UInt8(String(decoding: bytes[place + 1...place + 2], as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                place += 3
            } else {
                decoded.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
