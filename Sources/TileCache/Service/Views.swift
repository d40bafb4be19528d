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
    /// Time when diagnostics were last read.
    var diagnosedAt: Int64?
    /// Expected rectangle of the newest plan, for diagnostics.
    var expectedRectangle: PixelRect?
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
