/// Reason why a store cannot be opened.
public enum TileDiskStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A setting is out of its range.
    case invalidConfiguration(String)
    /// The folder cannot be created or read.
    case inaccessible(path: String, reason: String)
    /// Another store, of this process or another one, has the folder open.
    case inUse(path: String)
    /// A later version of the library made the store. Its files have not been changed.
    case newerSchema(path: String, version: Int)
    /// The file of the store is an SQLite database of another program. It has not been changed.
    case foreignDatabase(path: String)

    /// A full sentence for a log or a terminal.
    public var description: String {
        switch self {
        case .invalidConfiguration(let reason): "invalid configuration of a disk store: \(reason)"
        case .inaccessible(let path, let reason): "\(path): the disk store cannot be opened: \(reason)"
        case .inUse(let path): "\(path): the disk store is in use by another process, or is open in this one"
        case .newerSchema(let path, let version):
            "\(path): the disk store has schema \(version), made by a later version of the library; "
                + "\(DiskSchema.version) was expected"
        case .foreignDatabase(let path):
            "\(path): an SQLite database of another program; no file or that of a disk store was expected"
        }
    }
}
