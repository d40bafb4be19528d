import Foundation
import TestSupport

/// `tile_server.py` as a separate process, which ends with this object.
final class TileServer {
    let port: Int
    private let folder: String
    private let process: ServerProcess

    static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether `http2_server.py` can run.
    static let speaksHTTP2 = OtherPrograms.openssl && python.map { OtherPrograms.run("\($0) -c 'import h2'") } ?? false

    /// Starts a server and waits until it listens; `nil` if it ends.
    init?(folder: String, mode: String, script name: String = "tile_server.py") {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
        // One of an earlier server.
        unlink("\(folder)/port")
        guard let python = Self.python,
            let process = try? ServerProcess(python, [script.path, folder, mode])
        else { return nil }
        let found = { (try? String(contentsOfFile: "\(folder)/port", encoding: .utf8)).flatMap { Int($0) } }
        guard settled({ found() != nil || !process.isRunning }), let port = found() else { return nil }
        (self.port, self.folder, self.process) = (port, folder, process)
    }

    func die() { process.end() }

    var template: String { "http://127.0.0.1:\(port)/{z}/{x}/{y}.png" }

    /// Lines "STATUS PATH" of the answers so far, in the mode `log`.
    var answers: [String] { lines("answers") }

    /// Connections so far, in the mode `opened`.
    var connections: Int { lines("opened").count }

    /// What has happened, as `http2_server.py` tells.
    var events: [String] { lines("events") }

    private func lines(_ name: String) -> [String] {
        let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// Maximum number of connections that were open at the same time.
    var mostConnections: Int? {
        (try? String(contentsOfFile: "\(folder)/most_open", encoding: .utf8)).flatMap { Int($0) }
    }
}
