import Foundation
import Testing

/// Files that commands write: checked before the run, and replaced as they are.
@Suite(.enabled(if: Program.url != nil, "the program was not built beside the tests"))
struct FileTests {
    private func generate(_ path: String) throws -> Program.Outcome {
        try Program.run(["generate", "--preset", "plane", "--duration", "1s", "--output", path])
    }

    @Test func aReplacedFileKeepsItsPermissions() throws {
        let folder = try Folder()
        try folder.write("old", to: "trace.csv")
        let path = folder.url.appendingPathComponent("trace.csv").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try generate(path).code == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int ?? 0 > 3)
    }

    @Test func theTargetOfALinkIsWrittenAlsoIfItIsNew() throws {
        let folder = try Folder()
        let link = folder.url.appendingPathComponent("link.csv").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "new.csv")
        #expect(try generate(link).code == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "new.csv")
        #expect(FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("new.csv").path))
        let circle = folder.url.appendingPathComponent("circle.csv").path
        try FileManager.default.createSymbolicLink(atPath: circle, withDestinationPath: "circle.csv")
        let outcome = try generate(circle)
        #expect(outcome.code == 2 && outcome.errors.contains("--output \(circle): "), "\(outcome.errors)")
    }

    @Test func aDashIsStandardOutput() throws {
        let folder = try Folder()
        let generate = ["generate", "--preset", "plane", "--duration", "1s"]
        let dash = try Program.run(generate + ["--output", "-"], in: folder.url)
        #expect(try dash.code == 0 && dash.output == Program.run(generate).output)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    /// A pipe has no path of its own.
    @Test func pipesAreWritten() throws {
        let folder = try Folder()
        let program = try #require(Program.url).path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = folder.url
        let generate = "'\(program)' generate --preset plane --duration 1s --output /dev/stdout"
        process.arguments = ["-o", "pipefail", "-c", "\(generate) | wc -l >lines"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let lines = try String(contentsOf: folder.url.appendingPathComponent("lines"), encoding: .utf8)
        #expect(Int(lines.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 > 5)
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: ["--version", "help tune", "--generate-completion-script bash", "generate --preset plane"]
    )
    func aFullDiskIsNoSuccess(words: String) throws {
        let folder = try Folder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = folder.url
        process.arguments = ["-c", "'\(try #require(Program.url).path)' \(words) >/dev/full 2>errors"]
        try process.run()
        process.waitUntilExit()
        let errors = try String(contentsOf: folder.url.appendingPathComponent("errors"), encoding: .utf8)
        #expect(process.terminationStatus == 2 && errors.contains("standard output: No space"), "\(errors)")
    }

    /// A limit of the system on the size of files is a full disk to the command.
    @Test func aFileThatBecomesTooLargeIsRemoved() throws {
        let folder = try Folder()
        let program = try #require(Program.url).path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = folder.url
        let generate = "'\(program)' generate --preset map --duration 1h --output trace.csv"
        process.arguments = ["-c", "ulimit -f 16 && \(generate) 2>errors"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
        let errors = try String(contentsOf: folder.url.appendingPathComponent("errors"), encoding: .utf8)
        #expect(errors.contains("--output trace.csv: "), "\(errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["errors"])
    }

    /// Both are tried before the trace, which does not exist either.
    @Test(arguments: ["--output", "--export-loads"])
    func aFolderThatCannotBeWrittenIsToldBeforeTheRun(flag: String) throws {
        let outcome = try Program.run(["replay", "--clock", "real", flag, "/nowhere/file", "/nowhere/trace.csv"])
        #expect(outcome.code == 2 && outcome.errors.contains("\(flag) /nowhere/file: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("not /nowhere"))
    }

    /// A recording cannot be made again.
    @Test(
        arguments: [
            "replay --output", "replay --export-keys", "tune --output", "compare --output", "compare --picture",
            "learn --output", "farm --output",
        ]
    )
    func aTraceIsNotReplaced(words: String) throws {
        let folder = try Folder()
        let file = folder.url.appendingPathComponent("one.csv")
        #expect(try generate(file.path).code == 0)
        let trace = try Data(contentsOf: file)
        let flags = words.split(separator: " ").map(String.init)
        // The folder's trace has another path, to the same file.
        let outcome = try Program.run(flags + ["one.csv", "."], in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.contains("\(flags[1]) one.csv: another file"), "\(outcome.errors)")
        #expect(try Data(contentsOf: file) == trace)
    }

    @Test(
        arguments: [
            "replay --source image:set --output set", "replay --source mbtiles:./set --output set",
            "warm --source pmtiles:set --disk tiles --output set", "replay --disk tiles --output tiles/tiles.sqlite",
            "zoomout --disk tiles --output tiles/tiles.sqlite", "replay --source xyz:tiles --output tiles/0/0/0.png",
            "warm --source tms:tiles --disk disk --output tiles/new",
            "replay --source dzi:a.dzi --output a_files/0_0.png",
        ]
    )
    func aSourceOrStoreIsNotReplaced(words: String) throws {
        let folder = try Folder()
        try folder.write("tiles", to: "set")
        for name in ["tiles/tiles.sqlite", "tiles/0/0/0.png", "a_files/0_0.png"] { try folder.write("tiles", to: name) }
        let outcome = try Program.run(words.split(separator: " ").map(String.init), in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.contains(": another file"), "\(outcome.errors)")
        for name in ["set", "tiles/tiles.sqlite", "tiles/0/0/0.png", "a_files/0_0.png"] {
            #expect(try Data(contentsOf: folder.url.appendingPathComponent(name)) == Data("tiles".utf8))
        }
    }

    /// The next run would compare with this one, however much worse it is.
    @Test(arguments: ["replay --duration 1s", "tune --duration 1s --budgets 4screens --policies none"])
    func aBaselineIsNotReplaced(words: String) throws {
        let folder = try Folder()
        let command = words.split(separator: " ").map(String.init) + ["--format", "json", "--output", "figures.json"]
        #expect(try Program.run(command, in: folder.url).code == 0)
        let outcome = try Program.run(command + ["--baseline", "figures.json"], in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.contains("--output figures.json: another"), "\(outcome.errors)")
    }

    @Test(arguments: ["./keys", "link/keys"])
    func twoFlagsWriteTwoFiles(path: String) throws {
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(
            at: folder.url.appendingPathComponent("link"),
            withDestinationURL: folder.url
        )
        let files = ["--export-keys", "keys", "--output", path]
        let outcome = try Program.run(["replay", "--duration", "1s"] + files, in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.contains("--output \(path): another file"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("keys").path))
    }

    /// A new file is made beside the old one.
    @Test(.enabled(if: getuid() != 0, "the superuser writes to any folder"))
    func theFolderOfAFileIsCheckedToo() throws {
        let folder = try Folder()
        try folder.write("old", to: "file")
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path) }
        let path = folder.url.appendingPathComponent("file").path
        let outcome = try Program.run(["replay", "--output", path, "/nowhere/trace.csv"])
        #expect(outcome.code == 2 && outcome.errors.contains("--output \(path): "), "\(outcome.errors)")
    }

    #if os(Linux)
        /// A trace is written as it is made, to a file beside the one that is named.
        @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
        func aSignalLeavesNoUnfinishedFile(number: Int32) throws {
            let folder = try Folder()
            let path = folder.url.appendingPathComponent("year.csv").path
            func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.url.path) }
            let (process, outputs) = try startUnblocked([
                "generate", "--preset", "map", "--duration", "8760h", "--output", path,
            ])
            let limit = Date(timeIntervalSinceNow: 600)
            while try names().isEmpty, Date() < limit { usleep(1000) }
            kill(process.processIdentifier, number)
            process.waitUntilExit()
            let outcome = try outputs.outcome(of: process)
            #expect(outcome.code == 130 && outcome.errors.contains("the trace ends after"), "\(outcome.errors)")
            #expect(try names() == ["year.csv"])
        }
    #endif

    // MARK: - Processes of a farm

    private func farm(_ more: String...) -> [String] { ["farm", "--processes", "2", "--memory-limit", "8MiB"] + more }

    @Test func aFarmTakesShortTimes() throws {
        let outcome = try Program.run(farm("--duration", "200ms", "--load-latency", "50ns"))
        #expect(outcome.code == 0 && outcome.output.contains("nothing is shared"), "\(outcome.errors)")
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(outcome.output)")
    }

    /// Nothing listens on the first port.
    @Test func serversThatServeNothingAreNotSaidToShare() throws {
        let outcome = try Program.run(farm("--duration", "200ms", "--shared", "127.0.0.1:1"))
        #expect(outcome.code == 0 && outcome.output.contains("127.0.0.1:1 served no load"), "\(outcome.output)")
    }

    /// A session of one frame has no demands and waits for no tile.
    @Test func fieldsOfAFarmWithoutAValueAreNull() throws {
        let outcome = try Program.run(farm("--duration", "0s", "--format", "json"))
        #expect(outcome.code == 0, "\(outcome.errors)")
        for name in ["hitRate", "demandWaitMillisecondsP99", "servers"] {
            #expect(outcome.output.contains("\"\(name)\" : null"), "\(outcome.output)")
        }
    }

    @Test func aFarmTakesTracesWhoseNamesBeginWithADash() throws {
        let folder = try Folder()
        #expect(try generate(folder.url.appendingPathComponent("-one.csv").path).code == 0)
        let outcome = try Program.run(farm("--duration", "200ms", "--", "-one.csv"), in: folder.url)
        #expect(outcome.code == 0 && outcome.output.contains("-one.csv"), "\(outcome.errors)")
    }

    #if os(Linux)
        /// Processes whose command line has a text.
        private func processes(with text: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").count { name in
                Int(name) != nil
                    && (try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8))?.contains(text) == true
            }
        }

        /// Starts the program with no signal blocked, and Ctrl-C and SIGHUP not ignored. The threads of tests block some, a
        /// shell in the background ignores Ctrl-C, `nohup` SIGHUP, and a process inherits all of it.
        private func startUnblocked(_ arguments: [String]) throws -> (process: Process, outputs: Program.Outputs) {
            var (none, before) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            let (interrupt, hangup) = (signal(SIGINT, SIG_DFL), signal(SIGHUP, SIG_DFL))
            defer {
                signal(SIGINT, interrupt)
                signal(SIGHUP, hangup)
            }
            return try Program.start(arguments)
        }

        @Test func anInterruptEndsTheWaitForAServer() throws {
            // It lets clients connect, and never answers.
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(server) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isOpen = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
                let place = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
                guard bind(server, place, size) == 0, listen(server, 4) == 0 else { return false }
                return getsockname(server, place, &size) == 0
            }
            try #require(isOpen)
            let url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/capabilities.xml"
            let (process, outputs) = try startUnblocked(["replay", "--source", "wmts:\(url)"])
            var client = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
            #expect(poll(&client, 1, 600_000) == 1)
            kill(process.processIdentifier, SIGINT)
            process.waitUntilExit()
            #expect(try outputs.outcome(of: process).code == -SIGINT)
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
        func aSignalEndsTheProcessesOfAFarm(number: Int32) throws {
            let (process, outputs) = try startUnblocked(farm("--duration", "90s"))
            let folder = "cachebench-farm-\(process.processIdentifier)"
            let place = FileManager.default.temporaryDirectory.appendingPathComponent(folder).path
            let limit = Date(timeIntervalSinceNow: 600)
            while try processes(with: folder + "/report") < 2, Date() < limit { usleep(20_000) }
            #expect(FileManager.default.fileExists(atPath: place))
            kill(process.processIdentifier, number)
            process.waitUntilExit()
            let outcome = try outputs.outcome(of: process)
            #expect(outcome.code == 130 && outcome.errors.contains("interrupted"), "\(outcome.errors)")
            #expect(Date() < limit && !FileManager.default.fileExists(atPath: place))
            #expect(try processes(with: folder) == 0)
        }
    #endif
}
