import TileCache

/// One tile on its way: through directories to its bytes.
final class PMTilesLoad: Sendable {
    private struct Step {
        var number = 0
        var isCancelled = false
        var cancel: (@Sendable () -> Void)?
    }

    private let archive: PMTilesArchive
    private let id: UInt64
    private let subject: String
    private let client: RangeClient
    private let then: @Sendable (RangeTileEnd) -> Void
    private let step = Lock(Step())

    /// - Parameter then: Called once, on any thread, or within ``begin()``.
    init(
        _ archive: PMTilesArchive,
        _ id: UInt64,
        of subject: String,
        for client: RangeClient,
        then: @escaping @Sendable (RangeTileEnd) -> Void
    ) {
        (self.archive, self.id, self.subject, self.client, self.then) = (archive, id, subject, client, then)
    }

    func begin() { search(archive.root, depth: 1) }

    /// Cancels the load, unless it has ended.
    func cancel() {
        let cancel = step.withLock { step -> (@Sendable () -> Void)? in
            step.isCancelled = true
            return step.cancel
        }
        cancel?()
    }

    private func search(_ directory: PMTilesDirectory, depth: Int) {
        // A tile of no bytes is absent.
        guard let entry = directory.entry(for: id), entry.run == 0 || entry.length > 0 else { return then(.absent) }
        let section = entry.run > 0 ? archive.header.tiles : archive.header.leaves
        guard let range = section.range(entry) else {
            let bytes = "\(entry.length) bytes at \(entry.offset)"
            return fail(.undecodable, "its \(bytes) lie beyond the \(section.length) of their section")
        }
        let largest = entry.run > 0 ? archive.largestTile : PMTilesDirectory.largestBytes
        guard range.count <= largest else {
            return fail(.tooLarge, "at most \(largest) bytes were expected, not \(range.count)")
        }
        if entry.run > 0 {
            take { [self] in archive.reader.read(range, for: client) { [then] in then(.read($0)) }.cancel }
        } else if depth == PMTilesArchive.deepest {
            fail(.undecodable, "directories are nested deeper than \(PMTilesArchive.deepest)")
        } else {
            take { [self] in
                archive.leaf(range, isDemand: client.isDemand, isOpening: client.isOpening) { [self] leaf in
                    switch leaf {
                    case .success(let directory): search(directory, depth: depth + 1)
                    case .failure(.end(let end)): then(.read(end))
                    }
                }
            }
        }
    }

    /// Starts a step, unless the load was cancelled.
    private func take(_ begin: () -> @Sendable () -> Void) {
        let number = step.withLock { step -> Int? in
            (step.number, step.cancel) = (step.number + 1, nil)
            return step.isCancelled ? nil : step.number
        }
        guard let number else { return then(.read(.cancelled)) }
        let cancel = begin()
        let isCancelled = step.withLock { step -> Bool in
            // The next step may have begun on another thread.
            guard step.number == number else { return false }
            step.cancel = cancel
            return step.isCancelled
        }
        if isCancelled { cancel() }
    }

    private func fail(_ cause: TileLoadFailureCause, _ message: String) {
        let failure = TileLoadFailure(cause, message)
        archive.reader.counter.count(failure, of: subject)
        then(.read(.failed(.permanent, failure)))
    }
}
