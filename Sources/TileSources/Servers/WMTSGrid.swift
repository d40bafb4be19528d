import TileCache

/// How the matrices of a set lie over each other, in pixels of the finest one. Pure.
///
/// Matrices may begin at corners of their own: a server that aligns its grid below states the top of the last row, which
/// is another one at each scale.
enum WMTSGrid {
    /// Side of a pixel in metres by which denominators are defined, 0.28 mm.
    private static let pixel = 0.00028

    /// Ratios of scales to the finest.
    ///
    /// - Parameter matrices: Coarsest first.
    static func ratios(_ matrices: [WMTSMatrix]) -> [Double] {
        guard let finest = matrices.last else { return [] }
        var ratios = [1.0]
        var finer = finest
        for matrix in matrices.dropLast().reversed() {
            let step = whole(matrix, finer).map { $0 * ratios[ratios.count - 1] }
            ratios.append(whole(matrix, finest) ?? step ?? matrix.scaleDenominator / finest.scaleDenominator)
            finer = matrix
        }
        return ratios.reversed()
    }

    /// The whole ratio of two scales that the rounding of their digits explains.
    private static func whole(_ coarse: WMTSMatrix, _ fine: WMTSMatrix) -> Double? {
        let (one, other) = (coarse.scaleDenominator, fine.scaleDenominator)
        let ratio = (one / other).rounded()
        let rounding = coarse.rounding + ratio * fine.rounding
        // Any ratio is nearly whole if the digits allow for half of one.
        let allowed = rounding < other / 8 ? max(rounding, 1e-6 * one) : 1e-6 * one
        return abs(one - ratio * other) <= allowed ? ratio : nil
    }

    /// Corners of matrices, from the corner of the finest one, y downwards.
    ///
    /// - Parameters:
    ///   - matrices: Coarsest first.
    ///   - system: `SupportedCRS` of the set.
    /// - Returns: `nil` for a matrix whose place cannot be told, or that does not lie over the finest one.
    static func origins(_ matrices: [WMTSMatrix], _ ratios: [Double], system: String?) -> [WorldPoint?] {
        guard let finest = matrices.last else { return [] }
        let differing = matrices.filter { !$0.beginsWith(finest) }
        let axes = WMTSAxes(system, corners: matrices.map(\.corner))
        let varying = (0...1).filter { place in differing.contains { !$0.isEqual(finest, place) } }
        // A grid that is aligned below varies northwards alone.
        let north = axes.north ?? (varying.count == 1 ? varying[0] : nil)
        guard let north else {
            return matrices.map { $0.beginsWith(finest) ? WorldPoint(x: 0, y: 0) : nil }
        }
        func origin(_ matrix: WMTSMatrix, _ unit: Double) -> WorldPoint {
            let scale = unit / (pixel * finest.scaleDenominator)
            let (x, y) = (
                (matrix.corner[1 - north] - finest.corner[1 - north]) * scale,
                (finest.corner[north] - matrix.corner[north]) * scale
            )
            // Corners are rounded, too.
            func snapped(_ place: Double) -> Double { abs(place - place.rounded()) < 0.05 ? place.rounded() : place }
            return WorldPoint(x: snapped(x), y: snapped(y))
        }
        func bottom(_ place: Int, _ unit: Double) -> Double {
            let matrix = matrices[place]
            return origin(matrix, unit).y + Double(matrix.height * matrix.tileHeight) * ratios[place]
        }
        let last = matrices.count - 1
        let aligned = axes.units.first { unit in
            matrices.indices.allSatisfy { abs(bottom($0, unit) - bottom(last, unit)) < 0.5 * ratios[$0] }
        }
        let unit = aligned ?? axes.units[0]
        return matrices.enumerated().map { place, matrix in
            if matrix.beginsWith(finest) { return WorldPoint(x: 0, y: 0) }
            let origin = origin(matrix, unit)
            return lies(matrix, ratios[place], at: origin, over: finest) ? origin : nil
        }
    }

    /// Whether a matrix shares at least a half of its area, or of the finest's, with the finest.
    private static func lies(_ matrix: WMTSMatrix, _ ratio: Double, at origin: WorldPoint, over finest: WMTSMatrix)
        -> Bool
    {
        let size = (
            Double(matrix.width * matrix.tileWidth) * ratio, Double(matrix.height * matrix.tileHeight) * ratio
        )
        let own = PixelRect(minX: origin.x, minY: origin.y, maxX: origin.x + size.0, maxY: origin.y + size.1)
        let world = PixelRect(
            minX: 0,
            minY: 0,
            maxX: Double(finest.width * finest.tileWidth),
            maxY: Double(finest.height * finest.tileHeight)
        )
        // A place that is no number, or that absorbs the size, has no area.
        return own.area > 0 && 2 * own.intersection(world).area >= min(own.area, world.area)
    }
}

/// Order and unit of the coordinates of a coordinate system, as far as its name tells.
struct WMTSAxes: Equatable {
    /// Place of the coordinate that grows northwards; `nil` if it is unknown.
    let north: Int?
    /// Metres for one of its units, the likeliest first.
    let units: [Double]

    /// - Parameters:
    ///   - system: `urn:ogc:def:crs:EPSG::3857`, `EPSG:3857` and the like.
    ///   - corners: All corners, which tell degrees from metres.
    init(_ system: String?, corners: [[Double]]) {
        let name = system ?? ""
        let code = Int(name.reversed().prefix { $0.isASCII && $0.isNumber }.reversed().map(String.init).joined()) ?? 0
        let isSmall = corners.allSatisfy { $0.allSatisfy { abs($0) <= 400 } }
        let hasDegrees = ["CRS84", "CRS83", "CRS27"].contains { name.hasSuffix($0) }
        if hasDegrees || isSmall && (4000..<5000).contains(code) {
            // Of a sphere of the earth's radius, as servers compute denominators.
            units = [111_319.49079327358]
            north = hasDegrees || corners.contains { abs($0[0]) > 90 && abs($0[1]) <= 90 } ? 1 : 0
            return
        }
        units = [1, 0.3048, 1200.0 / 3937]
        let eastFirst =
            [3857, 3785, 900_913, 102_100, 102_113].contains(code) || (25_828...25_838).contains(code)
            || (32_601...32_660).contains(code) || (32_701...32_760).contains(code)
        north = eastFirst ? 1 : nil
    }
}
