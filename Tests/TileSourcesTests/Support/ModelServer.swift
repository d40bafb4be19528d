import Foundation

/// An HTTP server in this process: one connection at a time, answers from a closure.
final class ModelServer: Sendable {
    struct Request: Sendable {
        var path = ""
        /// Names in lower case.
        var headers: [String: String] = [:]
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [String] = []
        var body: [UInt8] = []
        /// Whether only half of the body is sent.
        var isCutOff = false
        /// Called when half of the body has been sent.
        var pause: (@Sendable () -> Void)?
    }

    let port: Int
    private let listener: Int32

    init?(_ answer: @escaping @Sendable (Request) -> Answer) {
        #if canImport(Glibc)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else { return nil }
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                Self.serve(connection, answer)
            }
            close(listener)
        }
    }

    // The thread then closes it.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var template: String { "http://127.0.0.1:\(port)/{z}/{x}/{y}" }

    private static func serve(_ connection: Int32, _ answer: (Request) -> Answer) {
        defer { close(connection) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            text += buffer.prefix(count)
        }
        let lines = String(decoding: text, as: UTF8.self).components(separatedBy: "\r\n")
        var request = Request()
        request.path = lines[0].components(separatedBy: " ").dropFirst().first ?? ""
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            request.headers[line[..<colon].lowercased()] = String(value)
        }
        let result = answer(request)
        let head = ["HTTP/1.1 \(result.status) Said", "Content-Length: \(result.body.count)", "Connection: close"]
        let body = result.isCutOff ? Array(result.body.prefix(result.body.count / 2)) : result.body
        let bytes = Array((head + result.headers + ["", ""]).joined(separator: "\r\n").utf8) + body
        let half = result.pause == nil ? bytes.count : bytes.count - body.count / 2
        guard send(bytes[..<half], on: connection) else { return }
        result.pause?()
        _ = send(bytes[half...], on: connection)
    }

    private static func send(_ bytes: ArraySlice<UInt8>, on connection: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(connection, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    #if canImport(Glibc)
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
        private static let noSignal: Int32 = 0
    #endif
}
