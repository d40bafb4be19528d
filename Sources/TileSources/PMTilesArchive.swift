import Synchronization
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
        var waiters: [Int: @Sendable (Leaf) -> Void] = [:]
        var cancel: (@Sendable () -> Void)?
    }

    private struct State {
        var leaves: [Range<Int>: (directory: PMTilesDirectory, use: Int)] = [:]
        var bytes = 0
        var uses = 0
        /// Leaf directories being read, each once for all who wait for it.
        var pending: [Range<Int>: Pending] = [:]
        var nextNumber = 0

        mutating func keep(_ directory: PMTilesDirectory, _ range: Range<Int>, limit: Int) {
            if let old = leaves[range] { bytes -= old.directory.byteCount }
            uses += 1
            leaves[range] = (directory, uses)
            bytes += directory.byteCount
            while bytes > limit, leaves.count > 1, let oldest = leaves.min(by: { $0.value.use < $1.value.use }) {
                leaves[oldest.key] = nil
                bytes -= oldest.value.directory.byteCount
            }
        }
    }

    let header: PMTilesHeader
    let reader: ByteRangeReader
    let root: PMTilesDirectory
    let largestTile: Int
    private let limit: Int
    private let state = Lock(State())

    /// Bytes of the first request: the specification has the header and the root directory there.
    static let beginning = 16_384

    /// Directories on the way to a tile, the root included.
    static let deepest = 4

    /// Opens an archive, usually with one request.
    ///
    /// - Parameter limit: Maximum bytes of leaf directories in memory; the latest one always stays.
    init(
        _ place: String,
        http: HTTPTileOptions,
        limit: Int,
        counter: SourceCounter
    ) throws(TileSourceError) {
        let (reader, bytes) = try ByteRangeReader.open(
            place,
            expecting: "a PMTiles archive",
            first: Self.beginning,
            http: http,
            counter: counter
        )
        header = try PMTilesHeader(bytes, size: reader.size, path: place)
        let section = header.root
        guard section.length <= PMTilesDirectory.largestBytes else {
            throw TileSourceError(place, "its root directory of \(section.length) bytes is too large")
        }
        let range = section.offset..<section.offset + section.length
        let encoded = range.upperBound <= bytes.count ? Array(bytes[range]) : try reader.readNow(range)
        do throws(TileLoadFailure) {
            root = try Self.directory(encoded, header.internalCompression)
        } catch {
            throw TileSourceError(place, "its root directory: \(error.message)")
        }
        (self.reader, self.limit, largestTile) = (reader, limit, http.largestTile.bytes)
    }

    /// Bytes of directories in memory.
    var directoryBytes: Int { root.byteCount + state.withLock { $0.bytes } }

    private static func directory(
        _ bytes: [UInt8],
        _ compression: PMTilesHeader.Compression
    ) throws(TileLoadFailure) -> PMTilesDirectory {
        guard compression == .gzip else { return try PMTilesDirectory(bytes) }
        return try PMTilesDirectory(try Gzip.inflate(bytes, limit: PMTilesDirectory.largestBytes).get())
    }

    /// A tile's own bytes, from those in the archive.
    func decompressed(_ bytes: [UInt8]) -> Result<[UInt8], TileLoadFailure> {
        header.tileCompression == .gzip ? Gzip.inflate(bytes, limit: largestTile) : .success(bytes)
    }

    /// Gets a leaf directory, from memory or from the file.
    ///
    /// - Returns: A function that gives up waiting; `then` is still called.
    func leaf(
        _ range: Range<Int>,
        isDemand: Bool,
        then: @escaping @Sendable (Leaf) -> Void
    ) -> @Sendable () -> Void {
        let (kept, number, isFirst) = state.withLock { state -> (PMTilesDirectory?, Int, Bool) in
            state.uses += 1
            if let leaf = state.leaves[range] {
                state.leaves[range]?.use = state.uses
                return (leaf.directory, 0, false)
            }
            state.nextNumber += 1
            let isFirst = state.pending[range] == nil
            state.pending[range, default: Pending(number: state.nextNumber)].waiters[state.nextNumber] = then
            return (nil, state.nextNumber, isFirst)
        }
        if let kept {
            then(.success(kept))
            return {}
        }
        if isFirst {
            let cancel = reader.read(range, for: RangeClient(isDemand: isDemand)) { [self] end in
                received(range, number, end)
            }
            let isWanted = state.withLock { state -> Bool in
                guard state.pending[range]?.number == number else { return false }
                state.pending[range]?.cancel = cancel
                return true
            }
            if !isWanted { cancel() }
        }
        return { [self] in leave(range, number) }
    }

    private func received(_ range: Range<Int>, _ number: Int, _ end: RangeEnd) {
        let leaf: Leaf
        switch end {
        case .bytes(let bytes):
            do throws(TileLoadFailure) {
                leaf = .success(try Self.directory(bytes, header.internalCompression))
            } catch {
                reader.counter.count(error, of: "\(reader.name): leaf directory at byte \(range.lowerBound)")
                leaf = .failure(.end(.failed(.permanent, error)))
            }
        case .failed, .cancelled: leaf = .failure(.end(end))
        }
        let waiters = state.withLock { state -> [@Sendable (Leaf) -> Void] in
            guard let pending = state.pending[range], pending.number == number else { return [] }
            state.pending[range] = nil
            if case .success(let directory) = leaf { state.keep(directory, range, limit: limit) }
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
            return (waiter, pending.cancel)
        }
        cancel?()
        waiter?(.failure(.end(.cancelled)))
    }
}
