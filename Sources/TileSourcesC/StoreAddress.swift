internal import TileSharedStore

/// What the address of a store names.
enum StoreAddress: Equatable {
    /// A folder of a disk store, and the limit of its files in bytes.
    case disk(path: String, byteLimit: Int)
    /// Servers of a shared store.
    case memcached([SharedServer])

    /// Limit of a disk store whose address has none: 1 GiB.
    static let usualLimit = 1 << 30

    /// Parses an address.
    ///
    /// - Throws: ``StoreAddressError``, which states what was expected and the address.
    init(_ address: String) throws(StoreAddressError) {
        if address.hasPrefix("disk:") {
            self = try Self.disk(address.dropFirst(5), of: address)
        } else if address.hasPrefix("memcached:") {
            do throws(TileSharedStoreError) {
                self = .memcached(try SharedServer.list(String(address.dropFirst(10))))
            } catch {
                throw StoreAddressError("\(error.description), in the address", address)
            }
        } else {
            throw StoreAddressError("address must be \(Self.forms), not", address)
        }
    }

    /// Forms of an address, for messages.
    private static let forms = "disk:FOLDER, disk:FOLDER?limit=BYTES or memcached:HOST:PORT,HOST:PORT"

    private static func disk(_ rest: Substring, of address: String) throws(StoreAddressError) -> StoreAddress {
        var (path, limit) = (rest, usualLimit)
        if let mark = rest.lastIndex(of: "?") {
            let setting = rest[rest.index(after: mark)...]
            guard setting.hasPrefix("limit="), let bytes = bytes(setting.dropFirst(6)) else {
                throw StoreAddressError(
                    "limit= and a whole number of bytes, KiB, MiB, GiB or TiB (512MiB) must follow the last ? in",
                    address
                )
            }
            (path, limit) = (rest[..<mark], bytes)
        }
        guard !path.isEmpty else { throw StoreAddressError("a folder must follow disk: in", address) }
        return .disk(path: String(path), byteLimit: limit)
    }

    /// Parses a number of bytes such as `512MiB`. `nil` if it has another form or does not fit.
    static func bytes(_ text: Substring) -> Int? {
        let units: [(name: String, shift: Int)] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]
        let unit = units.first { text.hasSuffix($0.name) }
        let digits = text.dropLast(unit?.name.count ?? 0)
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(digits)
        else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: 1 << (unit?.shift ?? 0))
        return isTooLarge ? nil : bytes
    }
}

/// An address that names no store.
struct StoreAddressError: Error, Equatable, CustomStringConvertible {
    /// What was expected, and the address.
    let description: String

    init(_ expected: String, _ address: String) { description = "\(expected) '\(address)'" }
}
