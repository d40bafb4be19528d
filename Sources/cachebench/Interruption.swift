import ArgumentParser
import Foundation
import Synchronization

/// Ctrl-C, SIGTERM or SIGHUP as a flag that long work checks. It can then print its results so far.
enum Interruption {
    /// Exit code that a shell expects after Ctrl-C.
    static let exitCode: Int32 = 130

    private static let flag = Atomic<Bool>(false)

    static var hasCome: Bool { flag.load(ordering: .relaxed) }

    /// Reports the results of an interrupted run; returns the error that ends the program.
    static func end(_ done: String) -> ExitCode {
        writeToStandardError("cachebench: interrupted: \(done)\n")
        return ExitCode(exitCode)
    }

    /// Installs the handler: the first Ctrl-C sets the flag, a second one ends the program.
    ///
    /// SIGTERM, as of `timeout`, and SIGHUP, as of a terminal that is closed, count as Ctrl-C. Otherwise they would leave
    /// unfinished files and the processes of a farm behind.
    static func watch() {
        // Created before any signal: its first use takes a lock, which a handler must not.
        flag.store(false, ordering: .relaxed)
        // `nohup` ignores it, so that the command outlives its terminal.
        let ignoresHangup =
            unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        for number in [SIGINT, SIGTERM] + (ignoresHangup ? [] : [SIGHUP]) {
            signal(number) { _ in
                Interruption.flag.store(true, ordering: .relaxed)
                // A closed terminal may send SIGHUP twice: a second one ends nothing.
                signal(SIGINT, SIG_DFL)
                signal(SIGTERM, SIG_DFL)
            }
        }
    }
}
