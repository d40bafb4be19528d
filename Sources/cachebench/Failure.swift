import ArgumentParser
import CacheBenchKit
import Foundation
import PanTraces
import TileCache
import TileSources

/// An error that the user can correct, in one line.
struct Failure: Error {
    let message: String

    init(_ message: String) { self.message = message }

    /// Runs a command's body; an error is one line on standard error and exit code 2.
    static func reported(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ExitCode {
            throw error
        } catch {
            writeToStandardError("cachebench: \(sentence(error))\n")
            throw ExitCode(2)
        }
    }

    /// The message of an error.
    static func sentence(_ error: any Error) -> String {
        switch error {
        case let error as Failure: error.message
        case let error as PanTraceError: error.description
        case let error as ReplayError: error.description
        case let error as CheckError: error.description
        case let error as TileCacheError: error.description
        case let error as TileSourceError: error.description
        default: "\(error)"
        }
    }
}

/// Writes to standard error; ignores failures.
func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(2, bytes, bytes.count)
}
