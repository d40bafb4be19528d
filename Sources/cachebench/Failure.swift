import ArgumentParser
import Foundation

/// An error that the user can correct, in one line.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Runs a command's body. An error is one line on standard error and exit code 2.
    static func reported(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ExitCode {
            throw error
        } catch {
            writeToStandardError("cachebench: \(error)\n")
            throw ExitCode(2)
        }
    }
}

/// Writes to standard error; ignores failures.
func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(2, bytes, bytes.count)
}
