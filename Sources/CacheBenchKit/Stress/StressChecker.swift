import Synchronization
import TileCache

final class StressChecker: Sendable {
    let findings: StressFindings
    private let layers = Lock<[StressLayer]>([])
    private let checked = Atomic<Int>(0)

    init(findings: StressFindings) { self.findings = findings }

    /// Adds the cache's next layer; `make` creates it and may fail.
    func add(_ make: (_ number: Int) throws -> (StressLayer, TileLayer)) rethrows -> TileLayer {
        try layers.withLock { layers in
            let (contents, layer) = try make(layers.count)
            if layer.id.serial != layers.count {
                findings.note(.place, "the layer after \(layers.count) others has the number \(layer.id.serial)")
            }
            layers.append(contents)
            return layer
        }
    }

    var all: [StressLayer] { layers.withLock { $0.map { $0 } } }
    /// Number of tiles verified, byte for byte.
    var tiles: Int { checked.load(ordering: .relaxed) }

    /// Completed invalidations by layer.
    typealias Known = [(layer: StressLayer, version: UInt32)]

    /// Takes the completed invalidations, before a frame is requested.
    func completed() -> Known { all.map { ($0, $0.history.completed) } }

    func look(at view: TileView) -> TileFrame {
        let known = completed()
        let frame = view.frame()
        for placement in frame {
            check(placement.tile, known)
            let number = placement.tile.identity.layer.serial
            if known.indices.contains(number) { check(placement, known[number].layer) }
        }
        return frame
    }

    /// Verifies a tile of a frame that was requested after `known` was taken.
    func check(_ tile: LeasedTile, _ known: Known) {
        let identity = tile.identity
        tile.withUnsafeBytes {
            check($0, layer: identity.layer.serial, identity.tile, isStale: tile.isStale, known)
        }
    }

    /// Verifies bytes; `isStale` is true if staleness is unknown.
    func check(
        _ bytes: UnsafeRawBufferPointer,
        layer number: Int,
        _ tile: TileCoordinate,
        isStale: Bool,
        _ known: Known
    ) {
        checked.wrappingAdd(1, ordering: .relaxed)
        guard known.indices.contains(number) else {
            // A layer that was added after the list was taken.
            if !all.indices.contains(number) { findings.note(.place, "a tile of a layer \(number) that there is not") }
            return
        }
        let (layer, completed) = known[number]
        guard layer.pyramid.contains(tile) else {
            return findings.note(.place, "layer \(number) draws \(tile), which does not exist")
        }
        let sight = Sight(layer: layer, tile: tile, isStale: isStale, completed: completed)
        if tile.level < layer.firstLevel { return checkSynthesized(bytes, sight) }
        if let fate = layer.fate(of: tile) {
            findings.note(.undelivered, "layer \(number) draws \(tile), which its source never had (\(fate.rawValue))")
        }
        judge(bytes, sight, style: layer.style(of: tile))
    }

    /// A tile that was drawn after all changes of its layer up to `completed`.
    private struct Sight: CustomStringConvertible {
        let layer: StressLayer
        var tile: TileCoordinate
        let isStale: Bool
        let completed: UInt32

        var description: String { "layer \(layer.number), tile \(tile)" }
    }

    private func judge(_ bytes: UnsafeRawBufferPointer, _ sight: Sight, style: StressTile.Style) {
        switch StressTile.read(bytes, layer: sight.layer.number, sight.tile, style: style) {
        case .wrong(let reason): findings.note(.pixels, "\(sight): \(reason)")
        case .version(let version):
            let objection = sight.layer.history.objection(
                to: version,
                covering: sight.layer.worldRectangle(of: sight.tile),
                isStale: sight.isStale,
                completed: sight.completed
            )
            if let objection { findings.note(.generation, "\(sight): \(objection)") }
        }
    }

    /// Synthesized tiles are squares, each one tile of the source or a hole.
    private func checkSynthesized(_ bytes: UnsafeRawBufferPointer, _ sight: Sight) {
        let (layer, tile) = (sight.layer, sight.tile)
        let parts = 1 << (layer.firstLevel - tile.level)
        let side = layer.tileSize / parts
        guard bytes.count == layer.tileSize * layer.tileSize * 4 else {
            return findings.note(.pixels, "\(sight) has \(bytes.count) bytes")
        }
        for part in 0..<parts * parts {
            let (column, row) = (part % parts, part / parts)
            var child = sight
            child.tile = TileCoordinate(
                level: layer.firstLevel,
                column: tile.column * parts + column,
                row: tile.row * parts + row
            )
            var square: [UInt32] = []
            square.reserveCapacity(side * side)
            for y in row * side..<(row + 1) * side {
                for x in column * side..<(column + 1) * side {
                    square.append(bytes.loadUnaligned(fromByteOffset: (y * layer.tileSize + x) * 4, as: UInt32.self))
                }
            }
            if square.contains(where: { $0 != 0 }) {
                square.withUnsafeBytes { judge($0, child, style: .solid) }
            } else if layer.fate(of: child.tile) == nil {
                findings.note(.pixels, "\(sight) has a hole where \(child.tile) is")
            }
        }
    }

    /// A tile must be drawn at its place, whether it is a fallback or not.
    private func check(_ placement: TilePlacement, _ layer: StressLayer) {
        let tile = placement.tile.identity.tile
        let place = layer.rectangle(of: tile)
        let level = layer.pyramid.levels[tile.level]
        let (scale, border) = (level.worldPixelsPerPixel, Double(level.border))
        let part = placement.tileRectangle
        let drawn = placement.worldRectangle
        var shift = drawn.minX - place.minX - (part.minX - border) * scale
        if layer.pyramid.wrapsX {
            shift -= (shift / layer.pyramid.worldWidth).rounded() * layer.pyramid.worldWidth
        }
        let error = max(
            abs(shift),
            abs(drawn.minY - place.minY - (part.minY - border) * scale),
            abs(drawn.width - part.width * scale),
            abs(drawn.height - part.height * scale)
        )
        let isInside =
            part.minX >= border - 1e-6 && part.minY >= border - 1e-6
            && part.maxX <= Double(level.tileWidth) + border + 1e-6
            && part.maxY <= Double(level.tileHeight) + border + 1e-6
        if !(error < 1e-3) || !isInside {
            findings.note(.place, "layer \(layer.number) draws \(part) of tile \(tile) at \(drawn)")
        }
    }
}
