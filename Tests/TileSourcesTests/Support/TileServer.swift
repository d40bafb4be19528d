import Foundation
import TestSupport

/// `tile_server.py` as a separate process, which ends with this object.
final class TileServer {
    let port: Int
    private let folder: String
    private let process: ServerProcess

    static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Starts a server and waits until it listens; `nil` if it ends.
    init?(folder: String, mode: String) {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "tile_server.py"
        )
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
    var answers: [String] {
        let text = try? String(contentsOfFile: "\(folder)/answers", encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// Maximum number of connections that were open at the same time.
    var mostConnections: Int? {
        (try? String(contentsOfFile: "\(folder)/most_open", encoding: .utf8)).flatMap { Int($0) }
    }
}
