import Foundation
import TestSupport

/// A real server of a folder on loopback, or a cache before another one. Ended by its process id.
final class FileServer {
    enum Kind: String, CaseIterable {
        case webfsd, weborf, civetweb, busybox, lighttpd
        /// A cache.
        case haproxy

        /// Path of the program, or `nil` if it is not installed.
        var program: String? {
            ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"].map { "\($0)/\(rawValue)" }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }
    }

    let port: Int
    private let process: ServerProcess
    /// Of its own files.
    private let scratch: ScratchFolder

    /// Starts it and waits until it listens; `nil` if it does not start.
    ///
    /// - Parameter origin: Port of the server that a cache asks.
    init?(_ kind: Kind, folder: String, origin: Int = 0) {
        guard let program = kind.program else { return nil }
        // Another process may take a free port before the server does: then it ends.
        for _ in 0..<5 {
            guard let port = NginxServer.freePort() else { return nil }
            let scratch = ScratchFolder()
            let arguments = Self.arguments(kind, port, folder, scratch, origin: origin)
            guard let process = try? ServerProcess(program, arguments) else { return nil }
            if settled({ Self.listens(port) || !process.isRunning }), process.isRunning {
                (self.port, self.process, self.scratch) = (port, process, scratch)
                return
            }
        }
        return nil
    }

    func address(_ file: String) -> String { "http://127.0.0.1:\(port)/\(file)" }

    private static func arguments(
        _ kind: Kind,
        _ port: Int,
        _ folder: String,
        _ scratch: ScratchFolder,
        origin: Int
    ) -> [String] {
        func write(_ lines: [String]) -> String {
            scratch.write(Array((lines + [""]).joined(separator: "\n").utf8), to: "configuration")
        }
        switch kind {
        case .webfsd: return ["-F", "-p", "\(port)", "-i", "127.0.0.1", "-r", folder]
        case .weborf: return ["-i", "127.0.0.1", "-p", "\(port)", "-b", folder]
        case .civetweb: return ["-document_root", folder, "-listening_ports", "127.0.0.1:\(port)"]
        case .busybox: return ["httpd", "-f", "-p", "127.0.0.1:\(port)", "-h", folder]
        case .lighttpd:
            let lines = [
                "server.document-root = \"\(folder)\"", "server.port = \(port)", "server.bind = \"127.0.0.1\"",
                "mimetype.assign = (\"\" => \"application/octet-stream\")",
            ]
            return ["-D", "-f", write(lines)]
        case .haproxy:
            let lines = [
                "defaults", " mode http", " timeout client 60s", " timeout server 60s", " timeout connect 60s",
                "cache tiles", " total-max-size 16", " max-object-size 1000000", " max-age 600",
                "frontend front", " bind 127.0.0.1:\(port)", " http-request cache-use tiles",
                " http-response cache-store tiles", " default_backend back", "backend back",
                " server origin 127.0.0.1:\(origin)",
            ]
            return ["-db", "-f", write(lines)]
        }
    }

    private static func listens(_ port: Int) -> Bool {
        #if canImport(Glibc)
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let probe = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(probe) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
