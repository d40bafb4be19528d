/// Folders with the memory files of a process's control group and of its ancestors, found in Linux's text files.
///
/// A process is in one group of each hierarchy. Memory is controlled by one of them: the unified one (version 2), or one of
/// version 1 beside it. Containers see a part of a hierarchy, mounted anywhere.
struct ControlGroups: Sendable, Hashable {
    enum Version: Sendable { case one, two }

    /// A folder of a group.
    struct Folder: Sendable, Hashable {
        var path: String
        var version: Version
    }

    /// Folders of the hierarchy that controls memory: the process's own first, then what is visible of its ancestors.
    private(set) var memory: [Folder] = []
    /// Folder of the process's own group of version 2, which has stalls whatever controls memory; `nil` if none is mounted.
    private(set) var unified: String?

    /// - Parameters:
    ///   - groups: `/proc/self/cgroup`: lines `4:cpu,memory:/path` of version 1 and `0::/path` of version 2.
    ///   - mounts: `/proc/self/mountinfo`. Without it, the usual folders are taken.
    init(groups: String, mounts: String?) {
        var paths: [Version: [Substring]] = [:]
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].first == "/" else { continue }
            let path = fields[2].split(separator: "/")
            if fields[0] == "0", fields[1].isEmpty { paths[.two] = path }
            if fields[1].split(separator: ",").contains("memory") { paths[.one] = path }
        }
        let all = mounts.map { $0.split(separator: "\n").compactMap { Mount($0) } } ?? Mount.usual
        if let path = paths[.two] { unified = Self.folders(of: path, in: all, .two).first?.path }
        guard let version = [Version.one, .two].first(where: { paths[$0] != nil }) else { return }
        memory = Self.folders(of: paths[version] ?? [], in: all, version)
    }

    /// Folders of a group, in all mounts that show it. The mount point alone if the group is outside of what is mounted.
    private static func folders(of path: [Substring], in mounts: [Mount], _ version: Version) -> [Folder] {
        let mounts = mounts.filter { $0.version == version }
        var found: [Folder] = []
        for mount in mounts where path.starts(with: mount.root) && !path.contains("..") {
            var rest = path.dropFirst(mount.root.count)
            while true {
                found.append(Folder(path: rest.reduce(mount.point) { $0 + "/" + $1 }, version: version))
                if rest.popLast() == nil { break }
            }
        }
        return found.isEmpty ? mounts.suffix(1).map { Folder(path: $0.point, version: version) } : found
    }

    /// A mounted hierarchy.
    fileprivate struct Mount {
        var version: Version
        /// Group that the mount shows.
        var root: [Substring]
        /// Path without a slash at its end.
        var point: String

        static let usual = [
            Mount(version: .one, root: [], point: "/sys/fs/cgroup/memory"),
            Mount(version: .two, root: [], point: "/sys/fs/cgroup"),
        ]
    }
}

extension ControlGroups.Mount {
    /// Reads a line `36 35 0:32 /root /point rw shared:9 - cgroup cgroup rw,memory`; `nil` if it is no such hierarchy.
    fileprivate init?(_ line: Substring) {
        let words = line.split(separator: " ")
        // Optional fields end at the hyphen.
        guard let end = words.dropFirst(6).firstIndex(of: "-"), words.count > end + 1 else { return nil }
        switch words[end + 1] {
        case "cgroup2": version = .two
        case "cgroup" where words.count > end + 3 && words[end + 3].split(separator: ",").contains("memory"):
            version = .one
        default: return nil
        }
        root = Substring(Self.unescaped(words[3])).split(separator: "/")
        let path = Self.unescaped(words[4])
        point = path == "/" ? "" : path
    }

    /// Replaces `\040` and the like, which stand for white space and backslashes.
    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("\\") else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            if byte == UInt8(ascii: "\\"), digits.count == 3, let code {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
