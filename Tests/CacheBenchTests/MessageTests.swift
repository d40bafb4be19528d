import Foundation
import Testing

/// Messages for invalid command lines: the wrong word, and what was expected instead.
@Suite(.enabled(if: Program.url != nil, "the program was not built beside the tests"))
struct MessageTests {
    struct Line: Sendable, CustomTestStringConvertible {
        var words: String
        /// 64 for bad usage, 2 for invalid input.
        var code: Int32 = 64
        var says: [String]

        var testDescription: String { words }
        var arguments: [String] { words.split(separator: " ").map(String.init) }
    }

    private static let lines: [Line] = [
        // Commands and files.
        Line(words: "repaly traces", says: ["no command or file 'repaly'", "did you mean 'replay'?"]),
        Line(words: "tun --target-hit-rate 0.9", says: ["did you mean 'tune'?"]),
        Line(words: "zoom-out --factors 4", says: ["did you mean 'zoomout'?"]),
        Line(words: "Compare traces", says: ["did you mean 'compare'?"]),
        Line(words: "replay repaly.csv", code: 2, says: ["repaly.csv", "No such file"]),
        Line(words: "/nowhere/trace.csv", code: 2, says: ["/nowhere/trace.csv"]),
        // Sources.
        Line(
            words: "replay --source mbtiles:nowhere.mbtiles",
            code: 2,
            says: ["nowhere.mbtiles: there is no such file", "an MBTiles file was expected"]
        ),
        Line(words: "replay --source map.mbtiles", says: ["did you mean mbtiles:map.mbtiles?"]),
        Line(words: "replay --source photo.JPG", says: ["did you mean image:photo.JPG?"]),
        Line(words: "replay --source photo.dzi", says: ["did you mean dzi:photo.dzi?"]),
        Line(words: "replay --source /tmp", says: ["did you mean xyz:/tmp?"]),
        Line(words: "replay --source sqlite:map.db", says: ["mbtiles:FILE, xyz:DIR"]),
        Line(words: "replay --source xyz:/tmp --clock virtual", says: ["--source needs --clock real"]),
        Line(words: "replay --source xyz:/tmp --load-latency 4ms", says: ["a --source takes its own time"]),
        Line(words: "replay --fit", says: ["--fit", "--source"]),
        Line(
            words: "replay --image-memory-limit 1GiB",
            says: ["--image-memory-limit is for cutting a --source image:"]
        ),
        Line(
            words: "replay --source xyz:/tmp --image-memory-limit 1GiB",
            says: ["--image-memory-limit is for cutting a --source image:"]
        ),
        Line(words: "replay --source xyz:/tmp --rows top", says: ["--rows is for a --source mbtiles:"]),
        Line(words: "replay --source mbtiles:a --rows up", says: ["Expected top or bottom"]),
        Line(
            words: "replay --source mbtiles:a#rows=top --rows bottom",
            says: ["--rows and the address of the --source name different orders of rows"]
        ),
        Line(words: "replay --source xyz:/tmp --maximum-zoom 3", says: ["--maximum-zoom is for a --source http:"]),
        // Lists name the wrong word.
        Line(words: "compare --policies none,foo traces", says: ["not 'foo'", "none, ring, velocity"]),
        Line(words: "compare --budgets 2screens,many traces", says: ["not 'many'", "2screens,64MiB"]),
        Line(words: "compare --efforts 0.5,1.5 traces", says: ["not '1.5'", "0 to 1"]),
        Line(words: "compare --policies none, traces", says: ["not ''"]),
        Line(words: "tune --policies oracle,lru", says: ["not 'lru'"]),
        Line(words: "tune --workers-list 2,0", says: ["not '0'", "1 to 255"]),
        Line(words: "tune --tile-sizes 256,x", says: ["not 'x'"]),
        Line(words: "replay --without pan,foo", says: ["not 'foo'"]),
        Line(words: "throughput --tiles /nowhere", code: 2, says: ["--tiles /nowhere: a directory of tiles"]),
        Line(words: "replay --tile-size 65536", code: 2, says: ["more than 2 GiB", "--tile-size"]),
        // Files that are read before the run: there is no trace.
        Line(words: "replay --profile /nonexistent traces", code: 2, says: ["--profile /nonexistent: cannot be read"]),
        Line(words: "compare --profile /nonexistent traces", code: 2, says: ["--profile /nonexistent: cannot be"]),
        Line(words: "tune --profile /dev/null traces", code: 2, says: ["--profile /dev/null: "]),
        Line(words: "learn --output a --load-times file:/none traces", code: 2, says: ["/none: expected a file"]),
        // Flags that would be ignored.
        Line(words: "replay --speed 2", says: ["--speed needs --clock real"]),
        Line(words: "zoomout --speed 2", says: ["--speed needs --clock real"]),
        Line(words: "zoomout --gamma-correct", says: ["--gamma-correct needs --clock real"]),
        Line(words: "replay --load-latency none", says: ["--load-latency none needs --clock real"]),
        Line(words: "compare --load-latency none traces", says: ["'none' is invalid for '--load-latency", "40ms"]),
        Line(words: "compare --memory-limit 1MiB traces", says: ["Unknown option '--memory-limit'"]),
        Line(words: "tune --clock real", says: ["Unknown option '--clock'"]),
        Line(words: "replay --prefetch ring --profile /nonexistent", says: ["--profile is for the policy 'tilecache'"]),
        Line(words: "replay --prefetch ring --without pan", says: ["--without is for the policy 'tilecache'"]),
        Line(words: "compare --policies ring --without pan traces", says: ["--without is for the policy 'tilecache'"]),
        Line(words: "compare --policies ring --learn leave-one-out traces", says: ["--learn is for the policy"]),
        Line(words: "replay --prefetch none --effort 0.3", says: ["--effort is for policies with an effort"]),
        Line(words: "replay --prefetch none --requests-per-minute 3", says: ["--requests-per-minute is for policies"]),
        Line(
            words: "replay --prefetch none --prefetch-allowance resident",
            says: ["--prefetch-allowance is for policies that prefetch"]
        ),
        Line(words: "compare --policies none,oracle --effort 0.3 traces", says: ["--effort is for policies with"]),
        Line(words: "compare --policies none,oracle --efforts 0.3 traces", says: ["--efforts is for policies with"]),
        Line(words: "compare --policies none --equal-loads smallest traces", says: ["--equal-loads is for policies"]),
        Line(words: "compare --policies none --bytes-per-minute 1MB traces", says: ["--bytes-per-minute is for"]),
        Line(words: "tune --prefetch none --effort 0.3", says: ["--effort is for policies with an effort"]),
        Line(words: "tune --prefetch none --policies none --prefetch-allowance never", says: ["--prefetch-allowance"]),
        Line(words: "compare --efforts 0.1 --effort 0.3 traces", says: ["--efforts", "cannot go with --effort"]),
        Line(words: "tune --workers-list 1,2 --workers 8", says: ["--workers-list", "cannot go with --workers"]),
        Line(words: "tune --tile-sizes 128 --tile-size 64", says: ["--tile-sizes", "cannot go with --tile-size"]),
        Line(
            words: "tune --compressed-shares 0 --compressed-share 1",
            says: ["--compressed-shares", "cannot go with --compressed-share"]
        ),
        Line(words: "replay --clock real --compression-ratio 3", says: ["--compression-ratio needs --clock virtual"]),
        Line(
            words: "replay --compressed-tier off --compression-ratio 3",
            says: ["--compression-ratio is for the tier that --compressed-tier off leaves out"]
        ),
        Line(words: "tune --compressed-tier off --compressed-share 0.5", says: ["--compressed-share is for the tier"]),
        Line(words: "compare --compressed-tier off --cost measured traces", says: ["--cost is for the tier"]),
        Line(words: "zoomout --seed 3", says: ["--seed needs --clock real"]),
        Line(words: "throughput --tiles /nonexistent --held 1000", says: ["--held", "cannot go with --tiles"]),
        Line(words: "throughput --rounds 5 --held 1000", says: ["--held", "cannot go with --rounds"]),
        Line(words: "compare --picture a.svg --check demands>1 traces", says: ["--picture", "cannot go with --check"]),
        Line(words: "compare --picture a.svg --baseline a traces", says: ["--picture", "cannot go with --baseline"]),
        Line(words: "compare --picture a.svg --efforts 0.1 traces", says: ["--picture", "cannot go with --efforts"]),
        Line(
            words: "compare --picture a.svg --equal-loads smallest traces",
            says: ["--picture", "cannot go with --equal-loads"]
        ),
        Line(words: "compare --picture a.svg --format json traces", says: ["--picture", "cannot go with --format"]),
        Line(words: "compare --picture a.svg --output b traces", says: ["--picture", "cannot go with --output"]),
        Line(
            words: "replay --source xyz:/tmp --export-keys keys",
            says: ["--export-keys", "a --source has other tiles"]
        ),
        Line(words: "replay --export-keys -", says: ["standard output takes the keys, the loads or the report"]),
        Line(words: "replay --clock real --export-loads - --output -", says: ["standard output takes the keys, "]),
        // Traces that are read several times.
        Line(words: "compare -", says: ["compare", "it takes files, not standard input"]),
        Line(words: "tune -", says: ["tune", "it takes files, not standard input"]),
        Line(words: "farm -", says: ["farm", "it takes files, not standard input"]),
        Line(words: "replay --export-keys keys -", says: ["--export-keys", "it takes files, not standard input"]),
        // Negative numbers.
        Line(words: "replay --viewport -5x10", says: ["'-5x10' is invalid for '--viewport", "WIDTHxHEIGHT"]),
        Line(words: "replay --world -1x-1", says: ["'-1x-1' is invalid for '--world", "WIDTHxHEIGHT"]),
        Line(words: "replay --tile-size -256", says: ["'-256' is invalid", "1 to 65536"]),
        Line(words: "replay --memory-limit -64MiB", says: ["'-64MiB' is invalid", "64MiB, 1.5GB"]),
        Line(words: "replay --workers -1", says: ["'-1' is invalid", "1 to 255"]),
        Line(words: "replay --duration -3s", says: ["'-3s' is invalid"]),
        Line(words: "replay --seed -1", says: ["'-1' is invalid"]),
        Line(words: "zoomout --viewport -5x10", says: ["'-5x10' is invalid for '--viewport"]),
        Line(words: "zoomout --factors -1", says: ["'-1' is invalid"]),
        Line(words: "generate --preset map --world -1x5", says: ["'-1x5' is invalid for '--world"]),
        Line(words: "throughput --rounds -1", says: ["--rounds takes 1 to 1000, not -1"]),
        Line(words: "stress --threads -1", says: ["'-1' is invalid", "1 to 64"]),
        Line(words: "compare --budgets -1MiB traces", says: ["not '-1MiB'"]),
        // Values out of range.
        Line(words: "replay --hysteresis 2", says: ["'2' is invalid", "0 to 1"]),
        Line(words: "replay --requests-per-minute 1000000001", says: ["'1000000001' is invalid", "0 to 1000000000"]),
        Line(
            words: "zoomout --full-resolution-only --memory-limit 260KiB",
            code: 2,
            says: ["--memory-limit 260KiB: invalid layer: ", "take 266656 bytes, more than the limit"]
        ),
        Line(
            words: "replay --tile-size 16 --memory-limit 4KiB",
            code: 2,
            says: ["--memory-limit 4KiB: invalid layer: ", "take 4512 bytes, more than the limit"]
        ),
        Line(words: "tune --tile-size 16 --budgets 4KiB", code: 2, says: ["--budgets 4KiB: invalid layer: "]),
        Line(words: "tune --budgets 1KiB", code: 2, says: ["--budgets 1KiB holds no tile"]),
        Line(words: "replay --prefetch oracle --clock real", says: ["the oracle needs --clock virtual"]),
        Line(words: "replay --disk tiles --disk-limit 1MiB", says: ["'1MiB' is invalid for '--disk-limit", "4MiB to"]),
        Line(words: "replay --memory-limit 3lbs", says: ["'3lbs' is invalid", "64MiB"]),
        Line(words: "replay --clock real --load-times bandwidth:1MB", says: ["--load-times bandwidth needs --clock"]),
        Line(words: "replay --clock real --load-latency 3601s", says: ["'3601s' is invalid", "at most 1h"]),
        Line(words: "zoomout --load-latency 2h", says: ["'2h' is invalid", "at most 1h"]),
        Line(words: "farm --load-latency 2h", says: ["'2h' is invalid", "at most 1h"]),
        Line(words: "replay --check demands.hitRate>=95", says: ["a share from 0 to 1", "95 is none"]),
        Line(words: "stress --duration 2497h", says: ["'2497h' is invalid", "at most 2496h"]),
        Line(words: "replay --duration 99999999h", says: ["'99999999h' is invalid", "at most 1281023h"]),
        Line(words: "stress --memory-limit 512KiB", says: ["--memory-limit takes 1MiB to 1TiB, not 512KiB"]),
    ]

    @Test(arguments: lines)
    func badLinesSayWhatIsWrong(line: Line) throws {
        let outcome = try Program.run(line.arguments)
        #expect(outcome.code == line.code, "\(outcome.errors)")
        for part in line.says { #expect(outcome.errors.contains(part), "\(outcome.errors)") }
        #expect(outcome.output.isEmpty)
    }

    /// Help of a command names only flags that it has and does not override.
    @Test(
        arguments: [
            ("zoomout", ["trace", "recorded", "replay"]), ("generate", ["trace's"]),
            ("compare", ["--memory-limit", "--prefetch", "--eviction", "--clock", "--speed", "real"]),
            ("tune", ["--memory-limit", "--clock", "--speed", "real"]), ("learn", ["--clock", "--speed", "real"]),
            ("warm", ["--fit", "traces"]),
        ]
    )
    func helpListsWhatCounts(command: String, absent: [String]) throws {
        let outcome = try Program.run([command, "--help"])
        #expect(outcome.code == 0 && outcome.output.contains("USAGE: cachebench \(command)"))
        let options = try #require(outcome.output.components(separatedBy: "OPTIONS:").last)
        let words = Set(options.split { $0.isWhitespace || ",.;:()".contains($0) })
        for word in absent { #expect(!words.contains(Substring(word)), "\(word) in \(options)") }
    }

    /// Lines that the parser breaks would be two commands once they are pasted.
    @Test(arguments: ["replay", "compare", "tune", "learn", "zoomout", "generate", "import", "stress", "warm", "farm"])
    func examplesOfHelpCanBePasted(command: String) throws {
        let help = try Program.run([command, "--help"]).output
        let examples = try #require(help.firstMatch(of: /Examples:\n([^U]*)USAGE/)?.1)
        var isContinued = false
        for line in examples.split(separator: "\n") {
            #expect(isContinued || line.hasPrefix("  cachebench "), "\(line)")
            isContinued = line.hasSuffix("\\")
        }
    }

    @Test func negativeNumbersThatCountAreTaken() throws {
        let outcome = try Program.run(["replay", "--duration", "1s", "--level-bias", "-0.5"])
        #expect(outcome.code == 0 && outcome.output.contains("--level-bias -0.5"), "\(outcome.errors)")
    }

    @Test func aTraceIsNamedAsItWasGiven() throws {
        let folder = try Folder()
        let trace = try Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output
        try folder.write(trace, to: "traces/one.csv")
        let path = folder.url.appendingPathComponent("traces/one.csv").path
        let outcome = try Program.run(["replay", path])
        // Below the verdict. As much of it as fits.
        let first = try #require(outcome.output.split(separator: "\n").first { $0.contains(" frames in ") })
        #expect(first.hasPrefix(path.prefix(10)) && first.contains("one.csv"), "\(outcome.output)")
        let relative = try Program.run(["replay", "traces/one.csv"], in: folder.url)
        #expect(
            relative.output.split(separator: "\n").contains { $0.hasPrefix("traces/one.csv ") },
            "\(relative.output)"
        )
    }

    /// It would be empty when it is read again.
    @Test(
        arguments: [
            "replay --profile <(echo)", "replay --load-times file:<(echo)", "replay --export-keys keys <(echo)",
            "compare <(echo)", "tune <(echo)", "farm <(echo)",
        ]
    )
    func aPipeIsNotReadTwice(words: String) throws {
        let folder = try Folder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = folder.url
        process.arguments = ["-c", "'\(try #require(Program.url).path)' \(words) 2>errors"]
        try process.run()
        process.waitUntilExit()
        let errors = try String(contentsOf: folder.url.appendingPathComponent("errors"), encoding: .utf8)
        #expect(process.terminationStatus == 64 && errors.contains(" is a pipe\n"), "\(errors)")
    }

    @Test func tracesWithoutAFolderAreNamed() throws {
        let folder = try Folder()
        try folder.write(Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output, to: "one.csv")
        let words = ["compare", "--budgets", "1MiB", "--policies", "none", "one.csv"]
        let compared = try Program.run(words, in: folder.url).output
        #expect(compared.contains("\nthis folder\n") && compared.contains(" for this folder: "), "\(compared)")
        let program = try #require(Program.url).path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = folder.url
        process.arguments = ["-c", "'\(program)' replay - <one.csv >report"]
        try process.run()
        process.waitUntilExit()
        let report = try String(contentsOf: folder.url.appendingPathComponent("report"), encoding: .utf8)
        #expect(report.split(separator: "\n").contains { $0.hasPrefix("standard input  ") }, "\(report)")
    }

    /// Of many traces, only one may be wrong.
    @Test(
        arguments: [
            "replay", "compare --policies none", "compare --learn leave-one-out --policies none,tilecache",
            "learn --output app.profile", "tune --policies none",
        ]
    )
    func theTraceOfAnErrorIsNamed(words: String) throws {
        let folder = try Folder()
        let trace = try Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output
        try folder.write(trace, to: "one.csv")
        try folder.write(trace.replacing("tile_size: 256", with: "tile_size: 65536"), to: "two.csv")
        let traces = ["one.csv", "two.csv"]
        let outcome = try Program.run(words.split(separator: " ").map(String.init) + traces, in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.hasPrefix("cachebench: two.csv: a tile"), "\(outcome.errors)")
    }

    @Test func memoryOfAShortStressRunIsNull() throws {
        let words = ["stress", "--duration", "0s", "--threads", "1", "--format", "json"]
        let outcome = try Program.run(words)
        for name in ["residentGrowth", "medians", "isFlat"] {
            #expect(outcome.output.contains("\"\(name)\" : null"), "\(outcome)")
        }
    }

    @Test func theFlagOfAPicturesLimitIsNamed() throws {
        let folder = try Folder()
        try folder.write(Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output, to: "one.csv")
        let words = ["compare", "--picture", "one.svg", "--budgets", "1B", "one.csv"]
        let outcome = try Program.run(words, in: folder.url)
        #expect(outcome.code == 2 && outcome.errors.contains("one.csv: --budgets 1B holds no"), "\(outcome.errors)")
    }

    /// The command accepts the flags at the end of its report. They make the same report.
    @Test(
        arguments: [
            "replay --duration 1s", "zoomout --factors 1,2 --viewport 100x100",
            "compare --budgets 2screens --policies none,ring --duration 1s",
        ]
    )
    func theFlagsOfAReportMakeItAgain(words: String) throws {
        let folder = try Folder()
        try folder.write(Program.run(["generate", "--preset", "plane", "--duration", "1s"]).output, to: "one.csv")
        let first = words.split(separator: " ").map(String.init)
        let traces = first[0] == "zoomout" ? [] : ["one.csv"]
        let report = try Program.run(first + traces, in: folder.url)
        #expect(report.code == 0, "\(report.errors)")
        let flags = try #require(report.output.components(separatedBy: "definitions 1: ").last)
        let again = [first[0]] + flags.split(whereSeparator: \.isWhitespace).map(String.init) + traces
        let repeated = try Program.run(again, in: folder.url)
        #expect(repeated.code == 0 && repeated.output == report.output, "\(repeated.errors)\(repeated.output)")
    }

    @Test(arguments: ["replay --speed 100 --duration 100ms", "zoomout --clock real --speed 100 --factors 2"])
    func theStoreOfAReportIsNamed(command: String) throws {
        let folder = try Folder()
        let arguments = command.split(separator: " ").map(String.init)
        let report = try Program.run(arguments + ["--disk", "tiles", "--disk-limit", "32MiB"], in: folder.url)
        let words = report.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("--disk tiles") && words.contains("--disk-limit 33554432B"), "\(report)")
    }

    /// Its table ends with the suggested flags; the page has the flags that made it.
    @Test func theFlagsOfTunesPageMakeItAgain() throws {
        let words = [
            "tune", "--target-hit-rate", "0.5", "--budgets", "1screens,2screens", "--workers-list", "2,4", "--policies",
            "none", "--compressed-shares", "0.5,adaptive", "--lru-sizes", "10,20", "--duration", "1s", "--format",
            "html",
        ]
        let page = try Program.run(words).output
        let flags = try #require(page.firstMatch(of: /definitions 1: tune (.*?)<\/p>/)?.1)
        let again = try Program.run(["tune"] + flags.split(separator: " ").map(String.init) + ["--format", "html"])
        #expect(again.output == page, "\(flags) \(again.errors)")
    }

    // MARK: - Sets of tiles

    /// 16 x 16 pixels of gray.
    private static var picture: Data? {
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAAAAAA6mKC9AAAAD0lEQVR42mNwQAMMI1sAAAMOQAEEMp50AAAAAElFTkSuQmCC"
        )
    }

    private func set(_ name: String = "6/30/20.png") throws -> Folder {
        let folder = try Folder()
        try folder.write("", to: name)
        try #require(Self.picture).write(to: folder.url.appendingPathComponent(name))
        return folder
    }

    private func replay(_ source: String, _ more: String...) throws -> Program.Outcome {
        let fast = ["--duration", "100ms", "--speed", "100", "--fit"]
        return try Program.run(["replay", "--source", source] + fast + more)
    }

    /// Reports and messages are passed on.
    @Test(arguments: ["http://u:secret@127.0.0.1:1/{z}/{x}/{y}", "tiff:http://u:secret@127.0.0.1:1/a"])
    func passwordsAreNotShown(source: String) throws {
        for more in [[], ["--format", "json"]] {
            let outcome = try Program.run(["replay", "--source", source, "--duration", "100ms"] + more)
            #expect((outcome.output + outcome.errors).contains("***@127.0.0.1:1"))
            #expect(!(outcome.output + outcome.errors).contains("secret"))
        }
    }

    @Test func metadataThatNamesAnotherOrderOfRowsIsMentioned() throws {
        let folder = try set()
        let path = folder.url.path
        #expect(try replay("xyz:\(path)").errors.isEmpty)
        try folder.write("<TileMap/>", to: "tilemapresource.xml")
        let wrong = try replay("xyz:\(path)")
        #expect(wrong.code == 0 && wrong.errors.contains("tilemapresource.xml says that row 0 is at the bottom"))
        #expect(wrong.errors.contains("tms:\(path)"))
        #expect(try replay("tms:\(path)").errors.isEmpty)
    }

    @Test func aRegionOutsideOfTheWorldIsRefused() throws {
        let folder = try set()
        let outcome = try Program.run([
            "warm", "--source", "xyz:\(folder.url.path)", "--disk", "\(folder.url.path)/disk", "--region", "1e12,0,5,5",
        ])
        #expect(outcome.code == 2 && outcome.errors.contains("--region takes a part of the world"), "\(outcome.errors)")
    }

    @Test func levelsThatASourceDoesNotHaveAreRefused() throws {
        let folder = try set("0/0/0.png")
        let words = ["warm", "--source", "xyz:\(folder.url.path)", "--disk", "\(folder.url.path)/disk", "--levels"]
        for levels in ["9", "0..9"] {
            let outcome = try Program.run(words + [levels])
            #expect(outcome.code == 2 && outcome.errors.hasSuffix("not \(levels)\n"), "\(outcome.errors)")
        }
    }

    @Test func theCauseOfATileThatCannotBeLoadedIsTold() throws {
        let folder = try set("0/0/0.png")
        try folder.write("no picture", to: "1/0/0.png")
        let words = ["warm", "--source", "xyz:\(folder.url.path)", "--disk", "\(folder.url.path)/disk"]
        let outcome = try Program.run(words)
        #expect(outcome.code == 1 && outcome.output.contains("1 failed, 0 not stored"), "\(outcome)")
        #expect(outcome.output.contains("\nlast failure: \(folder.url.path)/1/0/0.png: it is"), "\(outcome)")
    }

    /// Nothing listens at the port.
    @Test func tilesThatAreNotStoredAreAFailure() throws {
        let folder = try set("0/0/0.png")
        let outcome = try Program.run(["warm", "--source", "xyz:\(folder.url.path)", "--shared", "127.0.0.1:1"])
        #expect(outcome.code == 1 && outcome.output.contains("1 requested (0 absent), 0 failed, "), "\(outcome)")
    }

    @Test func theMemoryForALargeImageIsNamedAndCanBeRaised() throws {
        let folder = try set("photo.png")
        let source = "image:\(folder.url.path)/photo.png"
        let refused = try replay(source, "--image-memory-limit", "1KiB")
        #expect(refused.code == 2 && refused.errors.contains("the image memory limit is 1024 bytes"))
        let needed = try #require(refused.errors.firstMatch(of: /need (\d+) bytes/)?.1)
        let raised = try replay(source, "--image-memory-limit", "\(needed)B")
        let words = raised.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(raised.code == 0 && words.contains("--image-memory-limit \(needed)B"), "\(raised.output)")
        #expect(try replay(source, "--image-memory-limit", "\(Int(needed)! - 1)B").code == 2)
    }
}
