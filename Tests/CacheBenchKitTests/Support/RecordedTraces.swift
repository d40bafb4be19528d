import Foundation

/// Recorded traces, which are not part of this package. They are CSV files in `traces/SOURCE/` of the folder that
/// `TILECACHE_SHARED` names.
enum RecordedTraces {
    static let isMissing = "TILECACHE_SHARED names no folder with recorded traces"

    /// Sorted files of a source; none without the variable.
    static func paths(of source: String) -> [String] {
        guard let root else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root + source)) ?? []
        return names.filter { $0.hasSuffix(".csv") }.sorted().map { "\(root)\(source)/\($0)" }
    }

    /// Files of all sources.
    static let all: [String] = {
        let sources = root.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
        return sources.sorted().flatMap { paths(of: $0) }
    }()

    private static let root = ProcessInfo.processInfo.environment["TILECACHE_SHARED"].map { $0 + "/traces/" }
}
