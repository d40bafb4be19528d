public import TileCache

/// A source whose tiles come from `async` functions, such as URL sessions and actors.
///
/// It may also be a ``TileCache/TileDecoder`` or a ``TileCache/MemoryReportingSource``.
public protocol AsyncTileSource: Sendable {
    /// Writes a tile's pixels into the cache's memory.
    typealias Writer = @Sendable (inout TilePixels) throws -> TileOutcome

    /// Fetches a tile. The task is cancelled when the tile is no longer wanted.
    ///
    /// - Parameter tile: A tile of the layer's pyramid.
    /// - Returns: A function that writes the pixels, called at once if the cache has room for them. It decodes the
    ///   fetched bytes, or returns ``TileCache/TileOutcome/absent`` if the tile does not exist.
    /// - Throws: ``TileCache/TileFailure`` to control whether and when to retry. All other errors count as transient.
    ///   Errors of a cancelled task say nothing about the tile.
    func load(_ tile: TileCoordinate) async throws -> Writer

    /// How many loads the source can use at a time. Read once, when a layer is added. Default:
    /// ``TileCache/LoadsInFlight/standard``.
    var loadsInFlight: LoadsInFlight { get }
}

extension AsyncTileSource {
    /// As many as make the loads faster, from 4 to 64.
    public var loadsInFlight: LoadsInFlight { .standard }
}

extension TileCache {
    /// Adds a layer with an `async` source. Each load is a task; at most ``AsyncTileSource/loadsInFlight`` run at a time.
    ///
    /// - Parameters:
    ///   - source: Kept until the layer is removed or the cache ends.
    ///   - pyramid: The levels and the world.
    ///   - options: Default: ``TileCache/LayerOptions/init()``.
    /// - Throws: As for other sources.
    public func addLayer(
        _ source: any AsyncTileSource,
        pyramid: TilePyramid,
        options: LayerOptions = LayerOptions()
    ) throws(TileCacheError) -> TileLayer {
        try addLayer(TaskSource(source: source) as any TileSource, pyramid: pyramid, options: options)
    }
}

/// Runs each load as a task.
private struct TaskSource: SourceAdapter {
    let source: any AsyncTileSource
    var original: any Sendable { source }
    var loadsInFlight: LoadsInFlight { source.loadsInFlight }

    func requestTile(_ request: TileRequest) {
        let task = Task { [source] in
            do {
                let write = try await source.load(request.tile)
                request.complete(write)
            } catch {
                if Task.isCancelled {
                    request.cancel()
                } else if let failure = error as? TileFailure {
                    request.fail(failure)
                } else {
                    request.fail()
                }
            }
        }
        // The request releases the handler, and with it the task, when it is completed.
        request.onCancel { task.cancel() }
    }
}
