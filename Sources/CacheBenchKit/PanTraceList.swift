import Foundation
package import PanTraces

/// Finds the traces that arguments of a command line name.
package enum PanTraceList {
    /// Lists files as given, and all traces below directories, sorted by path: `.csv` files, except those without the
    /// `#` that begins a trace.
    ///
    /// Hidden files, and directories behind symbolic links, are left out: a link may form a cycle. What is in a directory
    /// and has a name that is not UTF-8 cannot be opened by it, and is left out too.
    ///
    /// - Parameters:
    ///   - arguments: Paths, or `-` for standard input.
    ///   - unnamed: Called with the path of each file or directory with such a name. Its bytes that are not UTF-8 are
    ///     replaced by U+FFFD. Default: nothing.
    ///   - other: Called with the path of each other `.csv` file in a directory. Default: nothing.
    /// - Throws: ``PanTraceError`` if a directory cannot be read or has no trace, or if standard input is named twice.
    package static func paths(
        _ arguments: [String],
        unnamed: (String) -> Void = { _ in },
        other: (String) -> Void = { _ in }
    ) throws(PanTraceError) -> [String] {
        var paths: [String] = []
        for argument in arguments {
            var isDirectory = false
            let exists = FileManager.default.fileExists(atPath: argument, isDirectory: &isDirectory)
            guard argument != "-", exists, isDirectory else {
                // Files are checked when they are read.
                if argument == "-", paths.contains("-") {
                    throw error("standard input", "to be named once", "- a second time")
                }
                paths.append(argument)
                continue
            }
            let folder = argument.count > 1 && argument.hasSuffix("/") ? String(argument.dropLast()) : argument
            let found = try traces(in: folder, unnamed)
            guard !found.isEmpty else { throw error(argument, "a directory with .csv files in it", "none") }
            let before = paths.count
            for path in found {
                if isOther(path) { other(path) } else { paths.append(path) }
            }
            guard paths.count > before else {
                throw error(argument, "a directory with pan traces in it", "other .csv files")
            }
        }
        return paths
    }

    private static func traces(in folder: String, _ unnamed: (String) -> Void) throws(PanTraceError) -> [String] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw Self.error(folder, "a directory that can be read", nil)
        }
        var paths: [String] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = folder == "/" ? "/" + name : folder + "/" + name
            let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
            if type == .typeDirectory {
                paths += try traces(in: path, unnamed)
            } else if type == nil, name.unicodeScalars.contains("\u{FFFD}") {
                unnamed(path)
            } else if name.hasSuffix(".csv") {
                paths.append(path)
            }
        }
        return paths
    }

    /// Whether a file begins as no trace does. Empty files, and those that cannot be read, are left to the reader's errors.
    private static func isOther(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        guard let start = try? file.read(upToCount: 4), !start.isEmpty else { return false }
        let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
        return start.first != UInt8(ascii: "#") && Array(start) != byteOrderMark + [UInt8(ascii: "#")]
    }

    private static func error(_ file: String, _ expected: String, _ found: String?) -> PanTraceError {
        PanTraceError(kind: .unreadable, file: file, line: nil, expected: expected, found: found)
    }
}
