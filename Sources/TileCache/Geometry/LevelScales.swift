/// Scales of an image's smaller levels, from their sizes. Levels are taken from fine to coarse.
///
/// Writers round the sides of a level down, up or to the nearest, at once or level by level, so that the quotient of two
/// sides is seldom whole: of 16,383 pixels the half has 8,191 or 8,192. A whole number explains a level's size if both
/// sides are the world's sides divided by it, rounded down or up, and at least 1. Rounding level by level gives nothing
/// else: `floor(floor(n / a) / b)` is `floor(n / ab)`, likewise upwards, and other ways of rounding lie between.
///
/// Several numbers may explain a level of a few pixels. Then the scale is the number with the same ratio as the step
/// before, else the least power of two times the next finer scale, else the number nearest to the quotient of the
/// longer sides.
package struct LevelScales: Sendable {
    private let world: (width: Int, height: Int)
    /// The scale that was found last, and its ratio to the scale before.
    private var last = 1
    private var step = 2

    /// - Parameter world: Size of the image at full resolution, 1 to 2^40 a side.
    package init(of world: (width: Int, height: Int)) { self.world = world }

    /// Takes the next coarser level.
    ///
    /// - Returns: The whole number of world pixels for one pixel of the level, larger than those of finer levels. `nil`
    ///   if rounding explains none.
    package mutating func take(width: Int, height: Int) -> Int? {
        guard let all = Self.ratios(width, height, of: world), all.upperBound > last else { return nil }
        let fitting = max(all.lowerBound, last + 1)...all.upperBound
        let isTall = world.height > world.width
        let quotient = isTall ? Double(world.height) / Double(height) : Double(world.width) / Double(width)
        var found = min(max(Int(quotient.rounded()), fitting.lowerBound), fitting.upperBound)
        var power = 2 * last
        while power < fitting.lowerBound { power *= 2 }
        if fitting.contains(power) { found = power }
        let (next, isHuge) = last.multipliedReportingOverflow(by: step)
        if !isHuge, fitting.contains(next) { found = next }
        if found.isMultiple(of: last) { step = found / last }
        last = found
        return found
    }

    /// The whole numbers, 2 or more, that explain a size; `nil` if there are none.
    static func ratios(_ width: Int, _ height: Int, of world: (width: Int, height: Int)) -> ClosedRange<Int>? {
        func least(_ side: Int, _ whole: Int) -> Int { whole / (side + 1) + 1 }
        // A side of one pixel is the quotient by any larger number.
        func most(_ side: Int, _ whole: Int) -> Int { side == 1 ? 1 << 41 : (whole - 1) / (side - 1) }
        guard width > 0, height > 0, width <= world.width, height <= world.height,
            max(world.width, world.height) <= TilePyramid.maximumGridSide
        else { return nil }
        let low = max(least(width, world.width), least(height, world.height), 2)
        let high = min(most(width, world.width), most(height, world.height))
        return low <= high ? low...high : nil
    }
}

extension TilePyramid {
    /// World pixels for one pixel of each level of an image, from the sizes of its levels: ``PyramidLevel`` needs them,
    /// and containers state sizes only.
    ///
    /// The scale is a whole number if rounding of both sides, down or up, explains it: 2 for 8,191 x 6,143 pixels of
    /// 16,383 x 12,287. Otherwise it is the quotient of the longer sides. So a view at 1/2 of the image draws the level
    /// of the half.
    ///
    /// - Parameter sizes: Sizes in pixels, coarsest first; the last one is the world's. 1 to 2^40 a side.
    /// - Returns: As many numbers, 1 for the last.
    public static func scales(ofLevels sizes: [(width: Int, height: Int)]) -> [Double] {
        guard let world = sizes.last else { return [] }
        var scales = LevelScales(of: world)
        var found = [1.0]
        for size in sizes.dropLast().reversed() {
            let (across, down) = (
                Double(world.width) / Double(size.width), Double(world.height) / Double(size.height)
            )
            let whole = scales.take(width: size.width, height: size.height).map { Double($0) }
            found.append(whole ?? (world.height > world.width ? down : across))
        }
        return found.reversed()
    }
}
