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
    private static let version = 1

    /// Kind of the source and the options that affect pixels.
    static func pixels(_ kind: String, _ options: LayerOptions, tileSize: Int) -> [String] {
        ["\(kind) \(version)", "\(options.format) \(options.alpha)", "tile size \(tileSize)"]
    }

    /// Absolute path without symbolic links, size in bytes and modification time of a file.
    static func file(_ path: String) -> [String] {
        guard let (size, time) = status(path) else { return [absolute(path), "missing"] }
        return [absolute(path), "\(size) bytes", time]
    }

    /// Absolute path without symbolic links and modification time of a folder.
    static func folder(_ path: String) -> [String] { [absolute(path), status(path)?.time ?? "missing"] }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func status(_ path: String) -> (size: Int, time: String)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return (Int(status.st_size), "\(time.tv_sec) s \(time.tv_nsec) ns")
    }
}
