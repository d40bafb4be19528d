/// A point or vector in screen pixels, of the view or of the visible content.
public struct ScrollVector: Hashable, Sendable {
    /// To the right, in screen pixels.
    public var x: Double
    /// Downwards, in screen pixels.
    public var y: Double

    /// The zero vector.
    public static let zero = ScrollVector(x: 0, y: 0)

    /// Creates a vector of two parts in screen pixels.
    @inlinable
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Length in screen pixels.
    public var length: Double { (x * x + y * y).squareRoot() }
    /// Whether both parts are finite.
    public var isFinite: Bool { x.isFinite && y.isFinite }
    /// Whether it can be a place: at most 2^52, so that no computation overflows.
    /// Each part by itself: `max` ignores a second NaN.
    var isPlace: Bool { x.magnitude <= 0x1p52 && y.magnitude <= 0x1p52 }

    enum Part: Sendable { case horizontal, vertical }

    subscript(_ part: Part) -> Double { part == .horizontal ? x : y }

    /// The sum of two vectors.
    public static func + (a: ScrollVector, b: ScrollVector) -> ScrollVector { .init(x: a.x + b.x, y: a.y + b.y) }
    /// The vector from the second place to the first.
    public static func - (a: ScrollVector, b: ScrollVector) -> ScrollVector { .init(x: a.x - b.x, y: a.y - b.y) }
    /// A vector scaled by a factor.
    public static func * (a: ScrollVector, b: Double) -> ScrollVector { .init(x: a.x * b, y: a.y * b) }
}

/// A size: of a view in screen pixels, of content in its own units.
public struct ScrollSize: Hashable, Sendable {
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Creates a size; each model documents the sizes it accepts.
    @inlinable
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// Whether it is from a millionth to 2^52. Beyond, neighbouring pixels are the same number.
    var isUsable: Bool { width >= 1e-6 && height >= 1e-6 && width <= 0x1p52 && height <= 0x1p52 }

    /// The point in the middle.
    var middle: ScrollVector { ScrollVector(x: width / 2, y: height / 2) }

    static func * (a: ScrollSize, b: Double) -> ScrollSize { .init(width: a.width * b, height: a.height * b) }
}

/// Reason why a scroll model cannot be created.
public struct ScrollError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A full sentence: the problem, and what was expected.
    public var description: String

    init(_ description: String) { self.description = description }

    static func check(_ size: ScrollSize, _ name: String) throws(ScrollError) {
        guard size.isUsable else {
            throw ScrollError(
                "the \(name) is \(size.width) x \(size.height); both were expected from a millionth to 2^52"
            )
        }
    }
}

/// Legal offsets of content in a view, at each scale.
///
/// An offset is the place of the visible content in the view's upper left corner.
struct ScrollLimits: Hashable, Sendable {
    /// View size in screen pixels.
    var view: ScrollSize
    /// Content size in content units; the scale converts them to screen pixels.
    var content: ScrollSize
    /// Margins that belong to the content, in screen pixels: left and right, top and bottom.
    var inset = ScrollVector.zero
    /// Whether content smaller than the view is centred. Otherwise it is in the upper left corner.
    var centersSmallContent = false
    /// Whether content that fits can still be pulled, and springs back.
    var alwaysBounces = false

    func horizontal(at scale: Double) -> ClosedRange<Double> {
        range(content.width * scale, view.width, inset.x)
    }

    func vertical(at scale: Double) -> ClosedRange<Double> {
        range(content.height * scale, view.height, inset.y)
    }

    private func range(_ content: Double, _ view: Double, _ inset: Double) -> ClosedRange<Double> {
        let low = -inset
        let high = content + inset - view
        if high >= low { return low...high }
        let only = centersSmallContent ? (content - view) / 2 : low
        return only...only
    }

    /// Legal offset nearest to another.
    func clamped(_ offset: ScrollVector, at scale: Double) -> ScrollVector {
        ScrollVector(x: offset.x.clamped(to: horizontal(at: scale)), y: offset.y.clamped(to: vertical(at: scale)))
    }

    /// Whether a direction with these legal offsets can be pulled.
    func moves(_ range: ClosedRange<Double>) -> Bool { alwaysBounces || range.lowerBound < range.upperBound }

    /// Offset shown for the fingers' offset, with resistance beyond the edge.
    func stretched(_ asked: ScrollVector, at scale: Double) -> ScrollVector {
        ScrollVector(
            x: stretched(asked.x, horizontal(at: scale), view.width, RubberBand.shown),
            y: stretched(asked.y, vertical(at: scale), view.height, RubberBand.shown)
        )
    }

    /// The fingers' offset for a visible one; the inverse of `stretched`.
    func asked(_ shown: ScrollVector, at scale: Double) -> ScrollVector {
        ScrollVector(
            x: stretched(shown.x, horizontal(at: scale), view.width, RubberBand.pulled),
            y: stretched(shown.y, vertical(at: scale), view.height, RubberBand.pulled)
        )
    }

    private func stretched(
        _ value: Double,
        _ range: ClosedRange<Double>,
        _ view: Double,
        _ band: (Double, Double) -> Double
    ) -> Double {
        let legal = value.clamped(to: range)
        guard moves(range), legal != value else { return legal }
        let beyond = band((value - legal).magnitude, view)
        return value < legal ? legal - beyond : legal + beyond
    }
}

extension Comparable {
    func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
