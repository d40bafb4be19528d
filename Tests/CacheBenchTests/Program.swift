import Foundation

/// The built program, which is in the same folder as the tests.
enum Program {
    static let url: URL? = {
        let folders = [Bundle.main.executableURL, Bundle.main.bundleURL].compactMap { $0?.deletingLastPathComponent() }
        return folders.map { $0.appendingPathComponent("cachebench") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Output and exit code of a run.
    struct Outcome {
        var code: Int32
        var output: String
        var errors: String
    }

    /// Runs the program to its end.
    static func run(_ arguments: [String], in folder: URL? = nil) throws -> Outcome {
        let (process, outputs) = try start(arguments, in: folder)
        process.waitUntilExit()
        return try outputs.outcome(of: process)
    }

    /// Starts the program with its output redirected to files, which have no size limit.
    static func start(_ arguments: [String], in folder: URL? = nil) throws -> (process: Process, outputs: Outputs) {
        let outputs = try Outputs()
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // Memory that the program holds when it exits with an error is no leak.
        process.environment = ProcessInfo.processInfo.environment.merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: outputs.output)
        process.standardError = try FileHandle(forWritingTo: outputs.errors)
        try process.run()
        return (process, outputs)
    }

    /// Files for the output of a run.
    final class Outputs {
        private let folder: Folder
        let output: URL
        let errors: URL

        init() throws {
            folder = try Folder()
            output = folder.url.appendingPathComponent("output")
            errors = folder.url.appendingPathComponent("errors")
            for url in [output, errors] { try Data().write(to: url) }
        }

        func outcome(of process: Process) throws -> Outcome {
            Outcome(
                code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
                output: try text(of: output),
                errors: try text(of: errors)
            )
        }

        /// Foundation's readers of whole files leak a buffer for an empty one.
        private func text(of url: URL) throws -> String {
            let file = try FileHandle(forReadingFrom: url)
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        }
    }
}

/// A folder that is removed with its contents at the end.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("cachebench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file and its folders.
    func write(_ text: String, to name: String) throws {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: file)
    }
}
