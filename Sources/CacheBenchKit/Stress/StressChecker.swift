import Synchronization
import TileCache

final class StressChecker: Sendable {
    let findings: StressFindings
    private let layers = Lock<[StressLayer]>([])
    private let checked = Atomic<Int>(0)

    init(findings: StressFindings) { self.findings = findings }

    /// Adds the cache's next layer; `make` creates it and may fail.
    func add(_ make: (_ number: Int) throws -> (StressLayer, LayerID)) rethrows -> LayerID {
        try layers.withLock { layers in
            let (layer, id) = try make(layers.count)
            if id.serial != layers.count {
                findings.note(.place, "the layer after \(layers.count) others has the number \(id.serial)")
            }
            layers.append(layer)
            return id
        }
    }

    var all: [StressLayer] { layers.withLock { $0.map { $0 } } }
    /// Number of tiles verified, byte for byte.
    var tiles: Int { checked.load(ordering: .relaxed) }

    /// Completed invalidations by layer; take them before a frame is requested.
    func completed() -> [(layer: StressLayer, version: UInt32)] { all.map { ($0, $0.history.completed) } }

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
    func check(_ tile: LeasedTile, _ known: [(layer: StressLayer, version: UInt32)]) {
        tile.withUnsafeBytes { bytes in
            check(
                bytes,
                layer: tile.identity.layer.serial,
                tile.identity.tile,
                isStale: tile.isStale,
                known
            )
        }
    }

    /// Verifies bytes; `isStale` is true if staleness is unknown.
    func check(
        _ bytes: UnsafeRawBufferPointer,
        layer number: Int,
        _ tile: TileCoordinate,
        isStale: Bool,
        _ known: [(layer: StressLayer, version: UInt32)]
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
        if tile.level < layer.firstLevel {
            return checkSynthesized(bytes, layer, tile, isStale: isStale, completed: completed)
        }
        if let fate = layer.fate(of: tile) {
            findings.note(.undelivered, "layer \(number) draws \(tile), which its source never had (\(fate.rawValue))")
        }
        judge(
            StressTile.read(bytes, layer: number, tile, style: layer.style(of: tile)),
            layer,
            tile,
            isStale: isStale,
            completed: completed
        )
    }

    private func judge(
        _ found: StressTile.Found,
        _ layer: StressLayer,
        _ tile: TileCoordinate,
        isStale: Bool,
        completed: UInt32
    ) {
        switch found {
        case .wrong(let reason): findings.note(.pixels, "layer \(layer.number), tile \(tile): \(reason)")
        case .version(let version):
            let objection = layer.history.objection(
                to: version,
                covering: layer.worldRectangle(of: tile),
                isStale: isStale,
                completed: completed
            )
            if let objection { findings.note(.generation, "layer \(layer.number), tile \(tile): \(objection)") }
        }
    }

    /// Synthesized tiles are squares, each one tile of the source or a hole.
    private func checkSynthesized(
        _ bytes: UnsafeRawBufferPointer,
        _ layer: StressLayer,
        _ tile: TileCoordinate,
        isStale: Bool,
        completed: UInt32
    ) {
        let parts = 1 << (layer.firstLevel - tile.level)
        let side = layer.tileSize / parts
        guard bytes.count == layer.tileSize * layer.tileSize * 4 else {
            return findings.note(.pixels, "layer \(layer.number), tile \(tile) has \(bytes.count) bytes")
        }
        for part in 0..<parts * parts {
            let (column, row) = (part % parts, part / parts)
            let child = TileCoordinate(
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
            if square.allSatisfy({ $0 == 0 }) {
                if layer.fate(of: child) == nil {
                    findings.note(.pixels, "layer \(layer.number), tile \(tile) has a hole where \(child) is")
                }
                continue
            }
            let found = square.withUnsafeBytes {
                StressTile.read($0, layer: layer.number, child, style: .solid)
            }
            judge(found, layer, child, isStale: isStale, completed: completed)
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
