#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds the traces that arguments of a command line name.
public enum PanTraceList {
    /// Lists files as given, and all `.csv` files below directories, sorted by path.
    ///
    /// Hidden files, and directories behind symbolic links, are left out: a link may form a cycle.
    ///
    /// - Parameter arguments: Paths, or `-` for standard input.
    /// - Throws: ``PanTraceError`` if a directory cannot be read or has no trace, or if standard input is named twice.
    public static func paths(_ arguments: [String]) throws(PanTraceError) -> [String] {
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
            let found = try traces(in: folder)
            guard !found.isEmpty else { throw error(argument, "a directory with .csv files in it", "none") }
            paths += found
        }
        return paths
    }

    private static func traces(in folder: String) throws(PanTraceError) -> [String] {
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
                paths += try traces(in: path)
            } else if name.hasSuffix(".csv") {
                paths.append(path)
            }
        }
        return paths
    }

    private static func error(_ file: String, _ expected: String, _ found: String?) -> PanTraceError {
        PanTraceError(kind: .unreadable, file: file, line: nil, expected: expected, found: found)
    }
}
