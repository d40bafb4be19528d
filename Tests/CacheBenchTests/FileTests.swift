import Foundation
import Testing

/// Processes that commands start.
@Suite(.enabled(if: Program.url != nil, "the program was not built beside the tests"))
struct FileTests {
    private func farm(_ more: String...) -> [String] { ["farm", "--processes", "2", "--memory-limit", "8MiB"] + more }

    @Test func aFarmTakesShortTimes() throws {
        let outcome = try Program.run(farm("--duration", "200ms", "--load-latency", "50ns"))
        #expect(outcome.code == 0 && outcome.output.contains("nothing is shared"), "\(outcome.errors)")
    }

    #if os(Linux)
        /// Processes whose command line has a text.
        private func processes(with text: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").count { name in
                Int(name) != nil
                    && (try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8))?.contains(text) == true
            }
        }

        @Test func anInterruptEndsTheProcessesOfAFarm() throws {
            // The threads of tests block signals, and a process inherits that.
            var (none, before) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            let started = Result { try Program.start(farm("--duration", "90s")) }
            pthread_sigmask(SIG_SETMASK, &before, nil)
            let (process, outputs) = try started.get()
            let folder = "cachebench-farm-\(process.processIdentifier)"
            let place = FileManager.default.temporaryDirectory.appendingPathComponent(folder).path
            let limit = Date(timeIntervalSinceNow: 60)
            while try processes(with: folder + "/report") < 2, Date() < limit { usleep(20_000) }
            #expect(FileManager.default.fileExists(atPath: place))
            process.interrupt()
            process.waitUntilExit()
            let outcome = try outputs.outcome(of: process)
            #expect(outcome.code == 130 && outcome.errors.contains("interrupted"), "\(outcome.errors)")
            #expect(Date() < limit && !FileManager.default.fileExists(atPath: place))
            #expect(try processes(with: folder) == 0)
        }
    #endif
}
