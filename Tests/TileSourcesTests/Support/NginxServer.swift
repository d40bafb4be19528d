import Foundation
import TestSupport

/// A separate nginx on loopback that caches a server's answers; ended by its process id.
final class NginxServer {
    let port: Int
    private let folder: ScratchFolder
    private let process: ServerProcess

    /// Path of the program, or nil if it is not installed.
    static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Starts it in front of a local server; `nil` if it does not start.
    init?(origin: Int) {
        guard let program = Self.program else { return nil }
        // Another process may take a free port before nginx does: then nginx ends.
        for _ in 0..<5 {
            guard let port = Self.freePort() else { return nil }
            let folder = ScratchFolder()
            if let process = Self.run(program, in: folder, port: port, origin: origin) {
                (self.folder, self.port, self.process) = (folder, port, process)
                return
            }
        }
        return nil
    }

    /// Starts the program and waits until it listens; `nil` if it ends.
    private static func run(_ program: String, in folder: ScratchFolder, port: Int, origin: Int) -> ServerProcess? {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/\($0);" }
        // One process, in the foreground: there is one id to end.
        let lines = [
            "daemon off;", "master_process off;", "pid \(folder.path)/pid;", "events { worker_connections 64; }",
            "http {",
            "log_format caching '$status $upstream_cache_status';", "access_log \(folder.path)/access.log caching;",
            "proxy_cache_path \(folder.path)/cache keys_zone=tiles:1m;", "proxy_cache_revalidate on;",
            "server {", "listen 127.0.0.1:\(port);", "location / {",
            "proxy_pass http://127.0.0.1:\(origin);", "proxy_cache tiles;",
            "add_header X-Cache-Status $upstream_cache_status always;", "}", "}",
        ]
        folder.write(Array((lines + temporary + ["}", ""]).joined(separator: "\n").utf8), to: "nginx.conf")
        let arguments = ["-p", folder.path, "-c", "\(folder.path)/nginx.conf", "-e", "\(folder.path)/error.log"]
        guard let process = try? ServerProcess(program, arguments) else { return nil }
        // It writes its id once it listens. (Another process may listen there, too.)
        let isThere = { FileManager.default.fileExists(atPath: "\(folder.path)/pid") }
        if settled({ isThere() || !process.isRunning }), process.isRunning { return process }
        return nil
    }

    var template: String { "http://127.0.0.1:\(port)/{z}/{x}/{y}.png" }

    /// Number of answers by status and origin, such as "200 HIT" or "304 REVALIDATED".
    var answers: [String: Int] {
        let text = try? String(contentsOfFile: "\(folder.path)/access.log", encoding: .utf8)
        return (text ?? "").split(separator: "\n").reduce(into: [:]) { $0[String($1), default: 0] += 1 }
    }

    static func freePort() -> Int? {
        #if canImport(Glibc)
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let probe = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(probe) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, size) == 0 && getsockname(probe, $0, &size) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
