@testable import TileCache
@testable import TileSources

/// A file on a server in this process that answers byte ranges, right or wrong.
final class RangeServer: Sendable {
    struct Content: Sendable {
        var bytes: [UInt8]
        var entityTag: String? = "\"first\""
        var lastModified: String?
        /// Changes an answer of this number, from 0, before it is sent.
        var change: @Sendable (Int, Range<Int>, inout ModelServer.Answer) -> Void = { _, _, _ in }
        /// Called with each request.
        var note: @Sendable (ModelServer.Request) -> Void = { _ in }
        /// The file whose address ends with `.ovr`, and the requests for it.
        var beside: [UInt8]?
        var besideCount = 0
        /// Ranges that were asked for, in order.
        var asked: [Range<Int>] = []
    }

    private let server: ModelServer
    private let shared: Shared

    init?(_ bytes: [UInt8], _ change: (inout Content) -> Void = { _ in }) {
        var first = Content(bytes: bytes)
        change(&first)
        let content = Shared(first)
        let server = ModelServer { request in content.answer(request) }
        guard let server else { return nil }
        (self.server, shared) = (server, content)
    }

    var port: Int { server.port }
    var address: String { "http://127.0.0.1:\(server.port)/file" }

    /// Ranges that were asked for so far, in storage of their own; see ``Record``.
    var asked: [Range<Int>] { shared.content.withLock { $0.asked.map { $0 } } }

    var besideCount: Int { shared.content.withLock { $0.besideCount } }

    func change(_ body: (inout Content) -> Void) { shared.content.withLock { body(&$0) } }

    /// State that the server's thread and the test share.
    private final class Shared: Sendable {
        let content: Lock<Content>

        init(_ first: Content) { content = Lock(first) }

        func answer(_ request: ModelServer.Request) -> ModelServer.Answer {
            let asked = Self.range(request.headers["range"]) ?? 0..<0
            if request.path.hasSuffix(".ovr") {
                return content.withLock { content in
                    content.besideCount += 1
                    guard let beside = content.beside else { return ModelServer.Answer(status: 404) }
                    var other = content
                    other.bytes = beside
                    return Self.answer(asked, other)
                }
            }
            var (answer, number, change, note) = content.withLock { content in
                content.asked.append(asked)
                return (Self.answer(asked, content), content.asked.count - 1, content.change, content.note)
            }
            note(request)
            change(number, asked, &answer)
            return answer
        }

        private static func answer(_ asked: Range<Int>, _ content: Content) -> ModelServer.Answer {
            var answer = ModelServer.Answer()
            if let tag = content.entityTag { answer.headers.append("ETag: \(tag)") }
            if let date = content.lastModified { answer.headers.append("Last-Modified: \(date)") }
            let size = content.bytes.count
            if asked.isEmpty {
                answer.body = content.bytes.map { $0 }
            } else if asked.lowerBound >= size {
                answer.status = 416
                answer.headers.append("Content-Range: bytes */\(size)")
            } else {
                let range = asked.clamped(to: 0..<size)
                answer.status = 206
                answer.headers.append("Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
                answer.body = Array(content.bytes[range])
            }
            return answer
        }

        /// The range of a header `bytes=1-2`.
        private static func range(_ header: String?) -> Range<Int>? {
            guard let header, header.hasPrefix("bytes=") else { return nil }
            let ends = header.dropFirst(6).split(separator: "-").compactMap { Int($0) }
            return ends.count == 2 ? ends[0]..<ends[1] + 1 : nil
        }
    }
}
