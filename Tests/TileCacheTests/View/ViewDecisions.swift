@testable import TileCache

/// What a view decides, and what it counts.
struct ViewDecisions: Equatable {
    struct OfLayer: Equatable {
        var level: Int
        var tiles: [TileKey]
        var visible: [VisibleTile]
        var missingSince: [Int64]
        var leastBytes: Int
        var gaveWay: Bool
        var touched: TouchMark
    }

    var layers: [OfLayer]
    var needsVersion: UInt64
    var shortfallBytes: Int
    var isTruncated: Bool
    var hasMoved: Bool
    var pan: TileCacheStatistics.DemandCounts
    var zoom: TileCacheStatistics.DemandCounts

    init(_ view: ViewModel) {
        layers = view.layers.map {
            OfLayer(
                level: $0.needs.level,
                tiles: $0.needs.tiles,
                visible: $0.visible,
                missingSince: $0.needs.missingSince,
                leastBytes: $0.needs.leastBytes,
                gaveWay: $0.gaveWay,
                touched: $0.touched
            )
        }
        (needsVersion, shortfallBytes) = (view.needsVersion, view.shortfallBytes)
        (isTruncated, hasMoved) = (view.isTruncated, view.hasMoved)
        (pan, zoom) = (view.pan, view.zoom)
    }
}
