import Foundation

/// A separate nginx on loopback that caches a server's answers; ended by its process id.
final class NginxServer {
    let port: Int
    private let folder: ScratchFolder
    private let process = Process()

    /// Path of the program, or nil if it is not installed.
    static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Starts it in front of a local server; `nil` if it does not start.
    init?(origin: Int) {
        guard let program = Self.program, let port = Self.freePort() else { return nil }
        let folder = ScratchFolder()
        (self.folder, self.port) = (folder, port)
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
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-p", folder.path, "-c", "\(folder.path)/nginx.conf", "-e", "\(folder.path)/error.log"]
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        let process = process
        guard settled({ !process.isRunning || Self.accepts(port) }), process.isRunning else { return nil }
    }

    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    var template: String { "http://127.0.0.1:\(port)/{z}/{x}/{y}.png" }

    /// Number of answers by status and origin, such as "200 HIT" or "304 REVALIDATED".
    var answers: [String: Int] {
        let text = try? String(contentsOfFile: "\(folder.path)/access.log", encoding: .utf8)
        return (text ?? "").split(separator: "\n").reduce(into: [:]) { $0[String($1), default: 0] += 1 }
    }

    private static func withAddress<Result>(_ port: Int, _ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func freePort() -> Int? {
        let probe = makeSocket()
        defer { close(probe) }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withAddress(0) { address in
            guard bind(probe, address, size) == 0, getsockname(probe, address, &size) == 0 else { return nil }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
    }

    private static func accepts(_ port: Int) -> Bool {
        let probe = makeSocket()
        defer { close(probe) }
        return withAddress(port) { connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) } == 0
    }
}
