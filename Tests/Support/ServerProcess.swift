import Foundation

/// A program that serves tests on loopback, ended by its process id.
///
/// It also ends with the process of the tests, in whatever way that ends. A server that remained would also keep the
/// output of the tests open, and who reads that to its end would wait for the server.
package final class ServerProcess {
    private let process = Process()
    /// Ends the program at the end of its own input, which closes with the process of the tests.
    private let watcher = Process()
    private let input = Pipe()

    /// Starts a program without output.
    /// - Parameter path: Path of the program.
    package init(_ path: String, _ arguments: [String], environment: [String: String]? = nil) throws {
        try Self.run(process, path, arguments, input: FileHandle.nullDevice, environment: environment)
        let script = "read -r _; kill -9 \(process.processIdentifier)"
        do {
            try Self.run(watcher, "/bin/sh", ["-c", script], input: input)
        } catch {
            Self.end(process)
            throw error
        }
    }

    private static func run(
        _ process: Process,
        _ path: String,
        _ arguments: [String],
        input: Any,
        environment: [String: String]? = nil
    ) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { end() }

    package var isRunning: Bool { process.isRunning }

    package func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// The watcher ends first: later the id might be that of another process.
    package func end() {
        Self.end(watcher)
        Self.end(process)
    }

    private static func end(_ process: Process) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
