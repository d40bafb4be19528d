import ArgumentParser
import CacheBenchKit
import Foundation
import PanTraces
import TileCache

/// `cachebench farm`: several processes with one shared store, and the loads that reach the origin.
struct FarmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "farm",
        abstract:
            "Run several processes over one world and one set of memcached servers, and count the origin's loads.",
        discussion: """
            Each process replays its own trace in real time with tiles of the built-in world. With fewer traces than \
            processes, traces are repeated. Without traces, map sessions over the same region are generated. A tile that \
            two processes load counts twice: the minimum is 1.0 loads for each distinct tile.

            The servers should be empty: what an earlier run left there is not loaded again.
            Without --shared each process loads everything itself, to compare.

            Examples:
              cachebench farm --processes 8 --duration 30s \\
                --shared 127.0.0.1:11211,127.0.0.1:11212
              cachebench farm --processes 4 --shared 10.0.0.1 monday.csv tuesday.csv
            """
    )

    @Argument(help: "Trace files of one world, or directories. (default: generated map sessions)", completion: .file())
    var traces: [String] = []

    @Option("Number of processes, 1 to 64.", .whole(1...64))
    var processes = 8

    @Option("The memcached servers: HOST or HOST:PORT, separated by commas.", .text, as: "servers")
    var shared: String?

    @Option("Duration of each replay.", .time("(30s, 2min)"), default: "30s")
    var duration: Int64 = 30_000_000_000

    @Option("Duration of a load from the origin.", .loadLatency, default: "40ms", as: "duration")
    var loadLatency: Int64 = 40_000_000

    @Option("Memory of each process: 64MiB, 1.5GB.", .memoryLimit)
    var memoryLimit = MemoryLimit.bytes(64 << 20)

    @OptionGroup var output: OutputArguments

    func validate() throws {
        try refusePipes(traces, since: "the processes of farm read the traces")
    }

    func run() throws {
        try Failure.reported {
            let given = try tracePaths(traces)
            let writer = try ReportWriter(path: output.file.output, sparing: given)
            Interruption.watch()
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cachebench-farm-\(getpid())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let paths = try given.isEmpty ? generate(in: folder) : given
            var children: [(process: Process, report: URL, loads: URL)] = []
            // Before the folder is removed, whatever ends the command.
            defer { Self.end(children.map(\.process)) }
            for index in 0..<processes {
                let report = folder.appendingPathComponent("report-\(index).json")
                let loads = folder.appendingPathComponent("loads-\(index)")
                let process = try Self.start(arguments(paths[index % paths.count], report, loads))
                children.append((process, report, loads))
            }
            try Self.wait(for: children.map(\.process), failure: "a process of the farm failed")
            let rows = try children.enumerated().map { index, child in
                try FarmReport.Row(
                    trace: (paths[index % paths.count] as NSString).lastPathComponent,
                    report: Data(contentsOf: child.report),
                    loads: String(contentsOf: child.loads, encoding: .utf8)
                )
            }
            let report = FarmReport(rows: rows, servers: shared)
            try writer.write(report, as: output.format, table: report.text)
        }
    }

    /// This program, also if it was found in the search path.
    private static var program: String {
        let link = "/proc/self/exe"
        return FileManager.default.fileExists(atPath: link)
            ? URL(fileURLWithPath: link).resolvingSymlinksInPath().path : Bundle.main.executablePath ?? ""
    }

    private static func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        return process
    }

    /// Waits until all processes have ended well. One that fails, or an interrupt, ends the wait with an error.
    private static func wait(for processes: [Process], failure: String) throws {
        while processes.contains(where: { $0.isRunning }),
            processes.allSatisfy({ $0.isRunning || $0.terminationStatus == 0 })
        {
            if Interruption.hasCome { throw Interruption.end("the processes did not finish") }
            usleep(20_000)
        }
        guard processes.allSatisfy({ !$0.isRunning && $0.terminationStatus == 0 }) else { throw Failure(failure) }
    }

    /// Interrupts the processes that still run, and waits for them. Each is in a process group of its own, which Ctrl-C
    /// in the terminal does not reach.
    private static func end(_ processes: [Process]) {
        for process in processes where process.isRunning { process.interrupt() }
        for process in processes { process.waitUntilExit() }
    }

    private func arguments(_ trace: String, _ report: URL, _ loads: URL) -> [String] {
        [
            "replay", "--clock", "real", "--format", "json", "--output", report.path, "--export-loads", loads.path,
            "--duration", "\(duration)ns", "--load-latency", "\(loadLatency)ns", "--memory-limit",
            memoryLimit.description,
        ] + (shared.map { ["--shared", $0] } ?? []) + ["--", trace]
    }

    /// Sessions of different people over the same world.
    private func generate(in folder: URL) throws -> [String] {
        try (1...processes).map { seed in
            let path = folder.appendingPathComponent("map-\(seed).csv").path
            let seconds = "\(max(duration / 1_000_000_000, 1))s"
            let process = try Self.start([
                "generate", "--preset", "map", "--seed", "\(seed)", "--duration", seconds, "--output", path,
            ])
            defer { Self.end([process]) }
            try Self.wait(for: [process], failure: "no trace could be generated in \(folder.path)")
            return path
        }
    }
}

/// Figures of a farm.
struct FarmReport: Encodable {
    /// One process.
    struct Row: Encodable {
        var trace: String
        @Nullable var hitRate: Double?
        var loads: Int
        /// Loads that the shared store served.
        var shared: Int
        /// Loads that reached the origin.
        var origin: Int
        @Nullable var frameMillisecondsP99: Double?
        @Nullable var demandWaitMillisecondsP99: Double?
        fileprivate var tiles: [Substring] = []

        private enum CodingKeys: String, CodingKey {
            case trace, hitRate, loads, shared, origin, frameMillisecondsP99, demandWaitMillisecondsP99
        }
    }

    var schema = 1
    @Nullable var servers: String?
    var rows: [Row]
    /// Tiles that at least one process needed of the origin.
    var distinct: Int
    var origin: Int
    /// Loads of the origin for each of them; `nil` if there were none.
    @Nullable var loadsPerTile: Double?

    init(rows: [Row], servers: String?) {
        self.rows = rows
        self.servers = servers
        distinct = Set(rows.flatMap(\.tiles)).count
        origin = rows.reduce(0) { $0 + $1.origin }
        loadsPerTile = distinct == 0 ? nil : Double(origin) / Double(distinct)
    }

    var text: String {
        func number(_ value: Double?, _ digits: Int, _ unit: String = "") -> String {
            value.map { String(format: "%.\(digits)f", $0) + unit } ?? "none"
        }
        let heading = "process  trace                 hits   loads  shared  origin  frame ms  needed ms"
        let lines = rows.enumerated().map { index, row in
            let cells = [
                (number(row.hitRate.map { $0 * 100 }, 1, " %"), 8), ("\(row.loads)", 8),
                ("\(row.shared)", 8),
                ("\(row.origin)", 8), (number(row.frameMillisecondsP99, 2), 10),
                (number(row.demandWaitMillisecondsP99, 1), 11),
            ]
            return "\(index + 1)".aligned(to: 7) + "  " + row.trace.printable.shortened(to: 18).padded(to: 18)
                + cells.map { $0.aligned(to: $1) }.joined()
        }
        let sum = "\(origin) loads of the origin for \(distinct) tiles: \(number(loadsPerTile, 3)) for each"
        let times = "frame: p99 of the time that a frame takes; needed: p99 of a needed tile's wait"
        // Servers that do not answer are no error of a cache: each process loads everything itself.
        let isShared = rows.contains { $0.shared > 0 }
        let sharing = servers.map { isShared ? "shared by \($0)" : "\($0) served no load" } ?? "nothing is shared"
        return ([heading] + lines + ["", times, sum, sharing]).joined(separator: "\n") + "\n"
    }
}

extension FarmReport.Row {
    private struct Report: Decodable {
        struct Total: Decodable {
            struct Loads: Decodable { var started: Int }
            struct Demands: Decodable { var hitRate: Double? }
            struct Time: Decodable { var p99: Double? }
            struct Service: Decodable { var frameCost, demandWait: Time }
            struct Tier: Decodable { var hits: Int }
            var loads: Loads
            var demands: Demands
            var service: Service?
            var tiers: [Tier]
        }
        var total: Total
    }

    /// - Parameters:
    ///   - report: JSON of the process.
    ///   - text: Tiles requested from the origin, one to a line.
    init(trace: String, report: Data, loads text: String) throws {
        let total = try JSONDecoder().decode(Report.self, from: report).total
        let tiles = text.split(separator: "\n")
        self.init(
            trace: trace,
            hitRate: total.demands.hitRate,
            loads: total.loads.started,
            shared: total.tiers.reduce(0) { $0 + $1.hits },
            origin: tiles.count,
            frameMillisecondsP99: total.service?.frameCost.p99,
            demandWaitMillisecondsP99: total.service?.demandWait.p99,
            tiles: tiles
        )
    }
}
