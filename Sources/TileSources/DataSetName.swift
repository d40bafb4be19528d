import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Parts of ``PyramidTileSource/dataSet``.
enum DataSetName {
    /// Incremented if the sources decode the same bytes to other pixels.
    private static let version = 3

    /// Kind of the source and the options that affect pixels.
    static func pixels(_ kind: String, _ options: LayerOptions, tileSize: Int) -> [String] {
        ["\(kind) \(version)", "\(options.format) \(options.alpha)", "tile size \(tileSize)"]
    }

    /// Absolute path without symbolic links, size in bytes and modification time of a file.
    static func file(_ path: String) -> [String] {
        var status = stat()
        return stat(path, &status) == 0 ? file(path, status) : [absolute(path), "missing"]
    }

    /// The same, with the status of the open file. Another file may be at its path by now.
    static func file(_ path: String, _ status: stat) -> [String] {
        [absolute(path), "\(status.st_size) bytes", time(status)]
    }

    /// Absolute path without symbolic links and modification time of a folder.
    static func folder(_ path: String) -> [String] {
        var status = stat()
        return [absolute(path), stat(path, &status) == 0 ? time(status) : "missing"]
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Modification time.
    static func time(_ status: stat) -> String {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return "\(time.tv_sec) s \(time.tv_nsec) ns"
    }
}
