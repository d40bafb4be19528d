import Foundation
import TestSupport

/// A separate memcached on loopback, ended by its process id.
///
/// Tests end it in a `defer`: an optimised build releases a reference after its last use.
final class MemcachedServer {
    let port: Int
    private let process: ServerProcess

    /// Path of the program, or nil if it is not installed.
    static let program = ["/usr/bin/memcached", "/usr/local/bin/memcached", "/opt/homebrew/bin/memcached"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// - Parameters:
    ///   - port: Default: one that the server finds free.
    ///   - options: Further options of its command line.
    init(port: Int? = nil, options: [String] = []) throws {
        // Another process may use the port for a while.
        for _ in 0..<50 {
            if let (process, port) = try Self.start(port: port, options) {
                (self.port, self.process) = (port, process)
                return
            }
            usleep(100_000)
        }
        throw POSIXError(.EADDRINUSE)
    }

    /// Starts a server and waits until it listens; `nil` if it ends.
    private static func start(port: Int?, _ options: [String]) throws -> (ServerProcess, port: Int)? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("memcached-\(UUID())").path
        defer { unlink(file) }
        // Port -1 is a free one. The server writes "TCP INET: " and its port to the file once it listens.
        var arguments = ["-l", "127.0.0.1", "-p", "\(port ?? -1)", "-U", "0", "-m", "16", "-t", "1"] + options
        if geteuid() == 0 { arguments += ["-u", "root"] }
        let process = try ServerProcess(program ?? "", arguments, environment: ["MEMCACHED_PORT_FILENAME": file])
        while process.isRunning {
            let text = try? String(contentsOfFile: file, encoding: .utf8)
            if let found = text?.split(whereSeparator: \.isWhitespace).last.flatMap({ Int($0) }) {
                return (process, found)
            }
            usleep(2000)
        }
        return nil
    }

    func send(_ signal: Int32) { process.send(signal) }

    func end() { process.end() }
}

/// A server with any behaviour on a free port of loopback. A closure handles each connection in a separate thread.
final class LoopbackListener {
    let port: Int
    private let socket: Int32

    init(_ answer: @escaping @Sendable (Int32) -> Void) throws {
        (socket, port) = try Self.bound()
        listen(socket, 16)
        let accepting = socket
        Thread.detachNewThread {
            while true {
                let connection = accept(accepting, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread {
                    answer(connection)
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    private static var streamType: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    private static func bound() throws -> (Int32, Int) {
        let socket = Foundation.socket(AF_INET, streamType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        return (socket, Int(in_port_t(bigEndian: address.sin_port)))
    }
}
