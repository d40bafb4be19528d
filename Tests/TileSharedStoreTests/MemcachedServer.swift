import Foundation

/// A separate memcached on loopback, ended by its process id.
///
/// Tests end it in a `defer`: an optimised build releases a reference after its last use.
final class MemcachedServer {
    let port: Int
    private let process = Process()

    /// Path of the program, or nil if it is not installed.
    static let program = ["/usr/bin/memcached", "/usr/local/bin/memcached", "/opt/homebrew/bin/memcached"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    init(port: Int? = nil) throws {
        self.port = try port ?? LoopbackListener.freePort()
        process.executableURL = URL(fileURLWithPath: Self.program ?? "")
        process.arguments = ["-l", "127.0.0.1", "-p", "\(self.port)", "-U", "0", "-m", "16", "-t", "1"]
        if geteuid() == 0 { process.arguments?.append(contentsOf: ["-u", "root"]) }
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It accepts connections once it listens.
        while process.isRunning, !LoopbackListener.accepts(port: self.port) { usleep(2000) }
    }

    deinit { end() }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    func end() {
        guard process.isRunning else { return }
        send(SIGKILL)
        process.waitUntilExit()
    }
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

    static func freePort() throws -> Int {
        let (socket, port) = try bound()
        close(socket)
        return port
    }

    static func accepts(port: Int) -> Bool {
        let probe = Foundation.socket(AF_INET, streamType, 0)
        defer { close(probe) }
        return withAddress(port: port) { connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) } == 0
    }

    private static var streamType: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    private static func withAddress<R>(port: Int, _ body: (UnsafePointer<sockaddr>) -> R) -> R {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }

    private static func bound() throws -> (Int32, Int) {
        let socket = Foundation.socket(AF_INET, streamType, 0)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withAddress(port: 0, { bind(socket, $0, length) }) == 0 else { throw POSIXError(.EADDRINUSE) }
        var address = sockaddr_in()
        var size = length
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return (socket, Int(in_port_t(bigEndian: address.sin_port)))
    }
}
