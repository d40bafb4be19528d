import TileCache

/// How the search for a tile's bytes ended.
enum RangeTileEnd: Sendable {
    case absent
    case read(RangeEnd)
}

/// Directories and bytes of a PMTiles archive; knows nothing of pixels.
final class PMTilesArchive: Sendable {
    typealias Leaf = Result<PMTilesDirectory, LeafFailure>

    /// Why a leaf directory is not there.
    enum LeafFailure: Error, Sendable { case end(RangeEnd) }

    private struct Pending {
        var number: Int
        var isDemand = false
        var waiters: [Int: @Sendable (Leaf) -> Void] = [:]
        /// `nil` until the read has begun.
        var read: RangeRead?
    }

    private struct State {
        var leaves: PMTilesLeaves
        /// Leaf directories that were read and are none, which are not read again.
        var damaged: [Range<Int>: TileLoadFailure] = [:]
        /// Leaf directories being read, each once for all loads that wait for it.
        var pending: [Range<Int>: Pending] = [:]
        var nextNumber = 0
    }

    let header: PMTilesHeader
    let reader: ByteRangeReader
    let root: PMTilesDirectory
    /// The header's zooms. Some writers state a maximum that leaves out a last run of equal tiles, as of sea: the root
    /// directory knows of finer ones.
    var zooms: ClosedRange<Int> {
        let last = min(root.lastZoom ?? 0, MapPyramid.zooms.upperBound)
        return header.zooms.lowerBound...max(header.zooms.upperBound, last)
    }
    /// The first entries of the first leaf directory, if it came with the header.
    let firstLeaf: [PMTilesDirectory.Entry]?
    let largestTile: Int
    private let state: Lock<State>

    /// Bytes of the first request: the specification has the header and the root directory there.
    static let beginning = 16_384

    /// Directories on the way to a tile, the root included.
    static let deepest = 4

    /// Maximum number of damaged leaf directories to remember; of more, some are read again.
    private static let mostDamaged = 256
    /// Approximate bytes that one takes, its message included.
    private static let damageBytes = 256

    /// Opens an archive, usually with one request.
    ///
    /// - Parameter limit: Maximum bytes of leaf directories in memory; the latest one always stays.
    init(
        _ place: String,
        http: HTTPTileOptions,
        limit: Int,
        _ delivery: TileDelivery
    ) throws(TileSourceError) {
        let (reader, bytes) = try ByteRangeReader.open(
            place,
            expecting: "a PMTiles archive",
            first: Self.beginning,
            least: PMTilesHeader.byteCount,
            http: http,
            counter: delivery.counter,
            scratch: delivery.scratch
        )
        do throws(TileSourceError) {
            (header, root) = try Self.beginning(bytes, reader)
        } catch {
            reader.stop()
            throw error
        }
        firstLeaf = root.entries.first.flatMap { [header] first in
            guard first.run == 0, let range = header.leaves.range(first), range.upperBound <= bytes.count,
                let leaf = try? Self.directory(Array(bytes[range]), header.internalCompression)
            else { return nil }
            return Array(leaf.entries.prefix(1024))
        }
        (self.reader, largestTile) = (reader, http.largestTile.bytes)
        state = Lock(State(leaves: PMTilesLeaves(limit: limit)))
    }

    /// Bytes of directories in memory.
    var directoryBytes: Int {
        root.byteCount + state.withLock { $0.leaves.byteCount + $0.damaged.count * Self.damageBytes }
    }

    /// The header and the root directory.
    private static func beginning(
        _ bytes: [UInt8],
        _ reader: ByteRangeReader
    ) throws(TileSourceError) -> (PMTilesHeader, PMTilesDirectory) {
        let header = try PMTilesHeader(bytes, size: reader.size, path: reader.name)
        let section = header.root
        guard section.length <= PMTilesDirectory.largestBytes else {
            throw TileSourceError(reader.name, "its root directory of \(section.length) bytes is too large")
        }
        let range = section.offset..<section.offset + section.length
        let encoded = range.upperBound <= bytes.count ? Array(bytes[range]) : try reader.readNow(range)
        do throws(TileLoadFailure) {
            return (header, try directory(encoded, header.internalCompression))
        } catch {
            throw TileSourceError(reader.name, "its root directory: \(error.message)")
        }
    }

    private static func directory(
        _ bytes: [UInt8],
        _ compression: PMTilesHeader.Compression
    ) throws(TileLoadFailure) -> PMTilesDirectory {
        guard compression == .gzip else { return try PMTilesDirectory(bytes) }
        return try PMTilesDirectory(try Gzip.inflate(bytes, limit: PMTilesDirectory.largestBytes).get())
    }

    /// A tile's own bytes, from those in the archive.
    ///
    /// - Parameters:
    ///   - mayContinue: Whether other tiles may follow. A tile has one member of gzip then.
    ///   - hold: Counts bytes in memory; returns whether there is room.
    func decompressed(
        _ bytes: RangeBytes,
        mayContinue: Bool = false,
        hold: (Int) -> Bool = { _ in true }
    ) -> Result<RangeBytes, TileLoadFailure> {
        guard header.tileCompression == .gzip else { return .success(bytes) }
        return Gzip.inflate(bytes.array, onlyFirst: mayContinue, limit: largestTile, hold: hold).map { .received($0) }
    }

    /// Gets a leaf directory, from memory or from the file.
    ///
    /// - Parameters:
    ///   - isDemand: Whether a view needs it now; then it also hastens a read that has begun for others.
    ///   - isOpening: Whether a thread that opens the archive waits for it.
    /// - Returns: A function that stops waiting; `then` is still called.
    func leaf(
        _ range: Range<Int>,
        isDemand: Bool,
        isOpening: Bool,
        then: @escaping @Sendable (Leaf) -> Void
    ) -> @Sendable () -> Void {
        enum Found { case kept(PMTilesDirectory), damaged(TileLoadFailure), pending(RangeRead?), nothing }
        let (found, number) = state.withLock { state -> (Found, Int) in
            if let leaf = state.leaves.use(range) { return (.kept(leaf), 0) }
            if let failure = state.damaged[range] { return (.damaged(failure), 0) }
            state.nextNumber += 1
            let isFirst = state.pending[range] == nil
            let isRaised = isDemand && state.pending[range]?.isDemand == false
            state.pending[range, default: Pending(number: state.nextNumber)].waiters[state.nextNumber] = then
            if isDemand { state.pending[range]?.isDemand = true }
            return (isFirst ? .nothing : .pending(isRaised ? state.pending[range]?.read : nil), state.nextNumber)
        }
        switch found {
        case .kept(let directory):
            then(.success(directory))
            return {}
        case .damaged(let failure):
            count(failure, of: range)
            then(.failure(.end(.failed(.permanent, failure))))
            return {}
        case .pending(let read): read?.raise()
        case .nothing: begin(range, number, RangeClient(isDemand: isDemand, isOpening: isOpening))
        }
        return { [self] in leave(range, number) }
    }

    private func count(_ failure: TileLoadFailure, of range: Range<Int>) {
        reader.counter.count(failure, of: "\(reader.name): leaf directory at byte \(range.lowerBound)")
    }

    private func begin(_ range: Range<Int>, _ number: Int, _ client: RangeClient) {
        let read = reader.read(range, for: client) { [self] end in
            received(range, number, end)
        }
        let (isWanted, isRaised) = state.withLock { state -> (Bool, Bool) in
            guard let pending = state.pending[range], pending.number == number else { return (false, false) }
            state.pending[range]?.read = read
            return (true, pending.isDemand && !client.isDemand)
        }
        if !isWanted { read.cancel() }
        if isRaised { read.raise() }
    }

    private func received(_ range: Range<Int>, _ number: Int, _ end: RangeEnd) {
        let leaf: Leaf
        var damage: TileLoadFailure?
        switch end {
        case .bytes(let bytes):
            do throws(TileLoadFailure) {
                let directory = try Self.directory(bytes.array, header.internalCompression)
                guard !directory.entries.isEmpty else { throw TileLoadFailure(.undecodable, "it has no entries") }
                leaf = .success(directory)
            } catch {
                count(error, of: range)
                leaf = .failure(.end(.failed(error.failure, error)))
                // Where there was no memory to decompress it, that says nothing of the directory.
                if !error.mayPass { damage = error }
            }
        case .failed, .cancelled: leaf = .failure(.end(end))
        }
        let waiters = state.withLock { state -> [@Sendable (Leaf) -> Void] in
            if let damage {
                if state.damaged.count >= Self.mostDamaged { state.damaged.removeAll() }
                state.damaged[range] = damage
            }
            guard let pending = state.pending[range], pending.number == number else { return [] }
            state.pending[range] = nil
            if case .success(let directory) = leaf { state.leaves.keep(directory, range) }
            return Array(pending.waiters.values)
        }
        for waiter in waiters { waiter(leaf) }
    }

    private func leave(_ range: Range<Int>, _ number: Int) {
        let (waiter, cancel) = state.withLock { state -> ((@Sendable (Leaf) -> Void)?, (@Sendable () -> Void)?) in
            let waiter = state.pending[range]?.waiters.removeValue(forKey: number)
            guard waiter != nil, let pending = state.pending[range], pending.waiters.isEmpty else {
                return (waiter, nil)
            }
            state.pending[range] = nil
            return (waiter, pending.read?.cancel)
        }
        cancel?()
        waiter?(.failure(.end(.cancelled)))
    }
}
