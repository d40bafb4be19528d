import Foundation

/// What an import needs of a HAR file: the requests that a browser made.
struct HARDocument: Decodable {
    /// The file is decoded as a whole; a larger one is refused.
    static let mostBytes = 256 << 20

    struct Log: Decodable { var entries: [Lenient] }
    /// An entry; `nil` if it has other types.
    struct Lenient: Decodable {
        var entry: Entry?

        init(from decoder: any Decoder) { entry = try? Entry(from: decoder) }
    }
    struct Entry: Decodable {
        struct Request: Decodable {
            var method: String?
            var url: String?
        }
        var startedDateTime: String?
        var request: Request?
    }

    var log: Log

    /// The entries with a time and an address, by time: browsers list them by page or by their ends.
    var requests: [(time: Int64, method: String, url: String)] {
        let requests = log.entries.compactMap { lenient -> (time: Int64, method: String, url: String)? in
            guard let request = lenient.entry?.request, let url = request.url,
                let time = lenient.entry?.startedDateTime.flatMap({ ImportedTime.date($0) })
            else { return nil }
            return (time, request.method ?? "GET", url)
        }
        return requests.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

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
