import ArgumentParser
import Foundation
import Synchronization

/// Ctrl-C as a flag that long work looks at, so that it can print what it has.
enum Interruption {
    /// What a shell expects of a program that Ctrl-C has ended.
    static let exitCode: Int32 = 130

    private static let flag = Atomic<Bool>(false)

    /// Whether Ctrl-C has been pressed.
    static var hasCome: Bool { flag.load(ordering: .relaxed) }

    /// Says what an interrupted run has done; the error that ends the program.
    static func end(_ done: String) -> ExitCode {
        writeToStandardError("cachebench: interrupted: \(done)\n")
        return ExitCode(exitCode)
    }

    /// From now on the first Ctrl-C raises the flag; a second one ends the program as ever.
    static func watch() {
        // Made before any signal can come: its first use takes a lock, which a handler must not.
        flag.store(false, ordering: .relaxed)
        signal(SIGINT) { _ in
            Interruption.flag.store(true, ordering: .relaxed)
            signal(SIGINT, SIG_DFL)
        }
    }
}
