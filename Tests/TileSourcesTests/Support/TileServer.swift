import Foundation

/// `tile_server.py` as a separate process, which ends with this object.
final class TileServer {
    let port: Int
    private let folder: String
    private let process = Process()
    private let input = Pipe()

    static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    init?(folder: String, mode: String) {
        guard let python = Self.python else { return nil }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "tile_server.py"
        )
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [script.path, folder, mode]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        self.port = port
        self.folder = folder
    }

    deinit { die() }

    /// Ends the server in any state. (A child of a Dispatch thread does not receive gentler signals.)
    func die() { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

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
