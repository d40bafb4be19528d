import TileCache

/// How the files of a store are opened and replaced.
extension DiskStoreCore {
    /// Connects to the database; throws `TileDiskStoreError` if it is another program's or a later version's.
    private static func connect(
        _ folder: DiskFolder,
        _ options: TileDiskStoreOptions
    ) throws -> (SQLConnection, DiskSchema.State) {
        let connection = try SQLConnection(path: folder.database, isReadOnly: folder.isReadOnly, vfs: options.vfs)
        connection.waitForLocks(until: .now.advanced(by: .seconds(5)))
        let state = try DiskSchema.state(connection)
        if case .newer(let version) = state {
            throw TileDiskStoreError.newerSchema(path: folder.path, version: version)
        }
        if case .foreign = state { throw TileDiskStoreError.foreignDatabase(path: folder.path + "/tiles.sqlite") }
        return (connection, state)
    }

    /// Deletes the files, unless they are another program's or a later version's, or it is not known whose they are.
    static func removeFiles(_ folder: DiskFolder, _ options: TileDiskStoreOptions) throws {
        if folder.hasDatabase {
            do {
                _ = try connect(folder, options)
            } catch let error as SQLFailure where [.damaged, .io, .full].contains(error.kind) {
                // Nobody can read them.
            }
        }
        folder.removeFiles()
    }

    /// Opens the database and evicts until it is within the limit.
    static func open(
        _ folder: DiskFolder,
        limit: Int,
        options: TileDiskStoreOptions,
        _ memory: DiskMemory
    ) throws -> DiskWriter {
        var (connection, state) = try connect(folder, options)
        if connection.isReadOnly, !folder.isReadOnly, folder.statesLaterFormat { throw SQLFailure.notAStore }
        if !connection.isReadOnly { try DiskSchema.configure(connection) }
        if case .empty = state, !connection.isReadOnly {
            try DiskSchema.create(connection)
            state = .current
        }
        guard case .current = state else { throw SQLFailure.notAStore }
        let writer = try DiskWriter(connection, limit: limit, memory: memory)
        guard !connection.isReadOnly else { return writer }
        writer.note(freeBytes: folder.freeBytes)
        try fit(writer, limit)
        return writer
    }

    private static func fit(_ writer: DiskWriter, _ limit: Int) throws(SQLFailure) {
        do {
            try writer.setLimit(limit)
        } catch {
            guard error.kind == .full, !writer.isDiskFull else { throw error }
            // A quota, for one, is not seen: the transactions were too large.
            writer.note(freeBytes: 0)
            try writer.setLimit(limit)
        }
    }
}

extension SQLFailure {
    fileprivate static let notAStore = SQLFailure(damage: "its tables are not those of a disk store")
}
