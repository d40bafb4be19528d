import Dispatch

/// State of a view in the service.
struct ViewRecord: Sendable {
    /// Serial number of the view, never reused, unlike its index.
    let serial: Int
    var model: ViewModel
    var promotionBudget = PromotionBudget()
    var callback: (@Sendable () -> Void)?
    var callbackQueue: DispatchQueue?
    var isCallbackQueued = false
    var recorder: (any ViewportRecorder)?
    /// Needed tiles that have lacked room; some may still do.
    var spared = RoomLack()
    var sparesRoom: Bool { spared.exists }
    /// Contents of the last frame.
    var contents: FrameContents?
    /// Ended waits since they were last read, in nanoseconds; at most a few thousand.
    var waits: [Int64] = []
    var refusedViewports = 0
    /// What its frames showed, without demands.
    private var shown = TileViewStatistics()
    /// Movements of the view before its last frame.
    private var countedMoves = 0
    /// Time when diagnostics were last read.
    var diagnosedAt: Int64?
    /// Expected rectangle of the newest plan, for diagnostics.
    var expectedRectangle: PixelRect?

    init(serial: Int, model: ViewModel, callbackQueue: DispatchQueue? = nil) {
        (self.serial, self.model, self.callbackQueue) = (serial, model, callbackQueue)
    }

    /// Demands, and what the frames showed.
    var statistics: TileViewStatistics {
        var figures = shown
        (figures.pan, figures.zoom) = (model.pan, model.zoom)
        return figures
    }

    /// Counts a frame of the last viewport.
    mutating func noteFrame(_ coverage: Coverage) {
        // One access for each layer: copies of its lists count references.
        var drawn = 0
        var hasOwnList = false
        for index in model.layers.indices {
            if !model.layers[index].needs.tiles.isEmpty { drawn += 1 }
            hasOwnList = hasOwnList || model.layers[index].hasOwnList
        }
        let pixels = hasOwnList ? 0 : model.viewport.map { $0.width * $0.height * Double(drawn) } ?? 0
        shown.note(coverage, pixels: pixels, hasMoved: model.moveCount != countedMoves)
        countedMoves = model.moveCount
    }
}

/// Views of a cache by index, and the figures of all of them.
struct Views: RandomAccessCollection {
    private var records: [ViewRecord?] = []
    private var free: [Int] = []
    /// Number of views ever added.
    private var addedCount = 0
    // Of removed views.
    private var closedPan = TileCacheStatistics.DemandCounts()
    private var closedZoom = TileCacheStatistics.DemandCounts()
    private var closedRefusals = 0

    var startIndex: Int { 0 }
    var endIndex: Int { records.count }
    subscript(place: Int) -> ViewRecord? {
        @inline(__always) _read { yield records[place] }
        @inline(__always) _modify { yield &records[place] }
    }

    /// Adds a view; returns its index.
    mutating func add(_ model: ViewModel) -> Int {
        let place = free.popLast() ?? records.count
        records.put(ViewRecord(serial: addedCount, model: model, callbackQueue: .main), at: place)
        addedCount += 1
        return place
    }

    /// Removes a view that was taken; its figures stay.
    mutating func close(_ view: ViewRecord, at place: Int) {
        closedPan = closedPan + view.model.pan
        closedZoom = closedZoom + view.model.zoom
        closedRefusals += view.refusedViewports
        free.append(place)
    }

    var pan: TileCacheStatistics.DemandCounts { records.reduce(closedPan) { $0 + ($1?.model.pan ?? .init()) } }
    var zoom: TileCacheStatistics.DemandCounts { records.reduce(closedZoom) { $0 + ($1?.model.zoom ?? .init()) } }
    var refusedViewports: Int { records.reduce(closedRefusals) { $0 + ($1?.refusedViewports ?? 0) } }
    var shortfallBytes: Int { records.compactMap { $0?.model.shortfallBytes }.max() ?? 0 }
}
