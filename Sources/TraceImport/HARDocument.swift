import Foundation

/// What an import needs of a HAR file: the requests that a browser made.
struct HARDocument: Decodable {
    /// The file is decoded as a whole; a larger one is refused.
    static let mostBytes = 256 << 20

    struct Log: Decodable { var entries: [Entry] }
    struct Entry: Decodable {
        struct Request: Decodable {
            var method: String?
            var url: String?
        }
        var startedDateTime: String?
        var request: Request?
    }

    var log: Log

    init(_ bytes: [UInt8], name: String) throws(ImportError) {
        do {
            self = try JSONDecoder().decode(HARDocument.self, from: Data(bytes))
        } catch DecodingError.dataCorrupted {
            throw ImportError(name, "is no JSON to its end")
        } catch {
            throw ImportError(name, "is no HAR file: log.entries, a list of requests, is expected")
        }
    }
}
