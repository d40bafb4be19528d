import Foundation

/// Whole files.
enum FileBytes {
    /// Bytes of a file; `nil` if it cannot be read.
    static func read(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { [UInt8]($0) } }
}
