import Foundation

/// Lines of logs whose fields are named in the file: W3C's extended format, as CloudFront and IIS write it.
///
/// `#Fields:` names the fields, in any order: `date`, `time`, `c-ip`, `cs-method`, `cs-uri-stem` are needed. Tabs, or else
/// spaces, separate them. Times are UTC.
struct NamedFieldsLog {
    private let date: Int
    private let time: Int
    private let client: Int
    private let method: Int
    private let stem: Int
    private let query: Int?
    private let agent: Int?
    /// Lines of the same second follow each other.
    private var last: (text: String, time: Int64?) = ("", nil)

    /// Whether a line is a directive, such as `#Version: 1.0`, and no request.
    static func isDirective(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.first == UInt8(ascii: "#"), let end = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return end > 1 && line[1..<end].allSatisfy { 65...90 ~= $0 & ~32 || $0 == UInt8(ascii: "-") }
    }

    static func namesFields(_ line: UnsafeRawBufferPointer) -> Bool { line.starts(with: "#Fields:".utf8) }

    /// `nil` if the line names no such fields.
    init?(_ line: UnsafeRawBufferPointer) {
        guard Self.namesFields(line) else { return nil }
        let text = String(decoding: line, as: UTF8.self).dropFirst(8)
        let names = text.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
        func field(_ name: String) -> Int? { names.firstIndex(of: name) }
        guard let date = field("date"), let time = field("time"), let client = field("c-ip"),
            let method = field("cs-method"), let stem = field("cs-uri-stem")
        else { return nil }
        (self.date, self.time, self.client, self.method, self.stem) = (date, time, client, method, stem)
        (query, agent) = (field("cs-uri-query"), field("cs(user-agent)"))
    }

    /// `nil` if a field is missing, or the time is none.
    mutating func request(_ line: UnsafeRawBufferPointer) -> LogRequest? {
        let tab = UInt8(ascii: "\t")
        let separator = line.contains(tab) ? tab : UInt8(ascii: " ")
        let fields = line.split(separator: separator, omittingEmptySubsequences: false)
        func text(_ field: Int?) -> String? {
            guard let field, field < fields.count else { return nil }
            return String(decoding: fields[field].prefix(2048), as: UTF8.self)
        }
        guard let day = text(date), let clock = text(time), let client = text(client), let method = text(method),
            let stem = text(stem)
        else { return nil }
        let moment = "\(day)T\(clock)Z"
        if moment != last.text { last = (moment, ImportedTime.date(moment)) }
        guard let time = last.time else { return nil }
        let query = text(query).flatMap { $0 == "-" ? nil : "?" + $0 } ?? ""
        return LogRequest(time: time, client: client, agent: text(agent) ?? "", method: method, path: stem + query)
    }
}

/// A request of a log that is not of the formats of nginx and Apache.
struct LogRequest: Hashable {
    /// Nanoseconds since 1970.
    var time: Int64
    var client: String
    var agent: String
    var method: String
    var path: String
}

extension LogRequest {
    /// A line of Caddy's access log: an object of JSON.
    private struct CaddyLine: Decodable {
        struct Request: Decodable {
            var remote_ip: String?
            var client_ip: String?
            var remote_addr: String?
            var method: String
            var uri: String
            var headers: [String: [String]]?
        }
        var ts: Double
        var request: Request
    }

    /// Reads a line of JSON as Caddy writes it; `nil` for any other one.
    init?(json line: UnsafeRawBufferPointer) {
        guard line.first == UInt8(ascii: "{"),
            let found = try? JSONDecoder().decode(CaddyLine.self, from: Data(line)),
            let time = ImportedTime.nanoseconds("\(found.ts)")
        else { return nil }
        let request = found.request
        self.init(
            time: time,
            client: request.client_ip ?? request.remote_ip ?? request.remote_addr ?? "",
            agent: request.headers?["User-Agent"]?.first ?? "",
            method: request.method,
            path: request.uri
        )
    }
}
