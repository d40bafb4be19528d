import Foundation
import TestSupport
import Testing

/// A separate web server on loopback that speaks HTTP/2 over TLS and sends the files of a folder; ended by its process id.
final class HTTP2Server {
    enum Program: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case nginx, h2o

        var path: String? {
            ["/usr/sbin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + rawValue }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }
        /// Those that are here, with what makes certificates.
        static let present = OtherPrograms.openssl ? allCases.filter { $0.path != nil } : []
        var testDescription: String { rawValue }
    }

    /// What a request said and how it was answered, as the server's log has it.
    struct Request: Hashable {
        /// Port of the client: one for each connection.
        var port: String
        var version: String
        var priority: String
        var status: String
    }

    let port: Int
    private let folder: ScratchFolder
    private let process: ServerProcess

    /// Starts a server; `nil` if it does not start.
    ///
    /// - Parameter streams: Maximum number of streams of a connection.
    init?(_ program: Program, files: ScratchFolder, streams: Int = 128) {
        guard let path = program.path, OtherPrograms.makeCertificate(in: files.path) else { return nil }
        // Another process may take a free port before the server does: then the server ends.
        for _ in 0..<5 {
            guard let port = NginxServer.freePort() else { return nil }
            let folder = ScratchFolder()
            let arguments: [String]
            switch program {
            case .nginx:
                folder.write(Array(Self.nginx(folder.path, files.path, port, streams).utf8), to: "conf")
                arguments = ["-p", folder.path, "-c", "\(folder.path)/conf", "-e", "\(folder.path)/errors"]
            case .h2o:
                folder.write(Array(Self.h2o(folder.path, files.path, port, streams).utf8), to: "conf")
                arguments = ["-m", "worker", "-c", "\(folder.path)/conf"]
            }
            guard let process = try? ServerProcess(path, arguments) else { return nil }
            // It writes its id once it listens. (Another process may listen there, too.)
            let isThere = { FileManager.default.fileExists(atPath: "\(folder.path)/pid") }
            if settled({ isThere() || !process.isRunning }), process.isRunning {
                (self.folder, self.port, self.process) = (folder, port, process)
                return
            }
        }
        return nil
    }

    private static func nginx(_ folder: String, _ files: String, _ port: Int, _ streams: Int) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        // One process, in the foreground: there is one id to end.
        let lines = [
            "daemon off;", "master_process off;", "pid \(folder)/pid;", "events { worker_connections 64; }", "http {",
            "log_format own '$remote_port $server_protocol \"$http_priority\" $status';",
            "access_log \(folder)/log own;", "http2_max_concurrent_streams \(streams);",
            "server {", "listen 127.0.0.1:\(port) ssl http2;", "root \(files);",
            "ssl_certificate \(files)/certificate.pem;", "ssl_certificate_key \(files)/key.pem;", "}",
        ]
        return (lines + temporary + ["}", ""]).joined(separator: "\n")
    }

    private static func h2o(_ folder: String, _ files: String, _ port: Int, _ streams: Int) -> String {
        """
        pid-file: \(folder)/pid
        user: \(NSUserName())
        num-threads: 1
        http2-max-concurrent-requests-per-connection: \(streams)
        access-log:
          path: \(folder)/log
          format: '%{remote}p %H "%{priority}i" %s'
        hosts:
          default:
            listen:
              host: 127.0.0.1
              port: \(port)
              ssl:
                certificate-file: \(files)/certificate.pem
                key-file: \(files)/key.pem
                ocsp-update-interval: 0
            paths:
              /:
                file.dir: \(files)

        """
    }

    var template: String { "https://127.0.0.1:\(port)/{z}/{x}/{y}.png" }

    var requests: [Request] {
        let text = try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)
        return (text ?? "").split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ").map(String.init)
            guard parts.count == 4 else { return nil }
            return Request(port: parts[0], version: parts[1], priority: parts[2], status: parts[3])
        }
    }
}
