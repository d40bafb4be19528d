/// A place or a way, in screen pixels: of the view, of the content as it is shown, or between the two.
public struct ScrollVector: Hashable, Sendable {
    /// To the right, in screen pixels.
    public var x: Double
    /// Downwards, in screen pixels.
    public var y: Double

    /// No way at all.
    public static let zero = ScrollVector(x: 0, y: 0)

    /// Makes a vector of its two parts in screen pixels.
    @inlinable
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Its length in screen pixels.
    public var length: Double { (x * x + y * y).squareRoot() }
    /// Whether both parts are numbers.
    public var isFinite: Bool { x.isFinite && y.isFinite }
    /// Whether it can be a place: far enough from infinity that nothing that is reckoned from it overflows.
    var isPlace: Bool { max(x.magnitude, y.magnitude) <= 0x1p52 }

    enum Part: Sendable { case horizontal, vertical }

    subscript(_ part: Part) -> Double { part == .horizontal ? x : y }

    /// The sum of two ways.
    public static func + (a: ScrollVector, b: ScrollVector) -> ScrollVector { .init(x: a.x + b.x, y: a.y + b.y) }
    /// The way from the second place to the first.
    public static func - (a: ScrollVector, b: ScrollVector) -> ScrollVector { .init(x: a.x - b.x, y: a.y - b.y) }
    /// A way so many times as long.
    public static func * (a: ScrollVector, b: Double) -> ScrollVector { .init(x: a.x * b, y: a.y * b) }
}

/// A width and a height: of a view in screen pixels, of content in its own units.
public struct ScrollSize: Hashable, Sendable {
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Makes a size; the models say which sizes they take.
    @inlinable
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// Whether something of this size can be shown: from a millionth to 2^52, beyond which neighbouring pixels are the
    /// same number.
    var isUsable: Bool { width >= 1e-6 && height >= 1e-6 && width <= 0x1p52 && height <= 0x1p52 }

    /// The place in the middle.
    var middle: ScrollVector { ScrollVector(x: width / 2, y: height / 2) }

    static func * (a: ScrollSize, b: Double) -> ScrollSize { .init(width: a.width * b, height: a.height * b) }
}

/// Why a scroll model could not be made.
public struct ScrollError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A full sentence: what is wrong, and what was expected.
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

/// Where content may come to rest in a view: which offsets are legal at which scale.
///
/// An offset is the place of the content, as it is shown, that lies in the view's upper left corner.
struct ScrollLimits: Hashable, Sendable {
    /// In screen pixels.
    var view: ScrollSize
    /// In content units, of which one is as many screen pixels as the scale says.
    var content: ScrollSize
    /// Room that belongs to the content on its left and right, and at its top and bottom, in screen pixels.
    var inset = ScrollVector.zero
    /// Whether content smaller than the view lies in its middle; else in its upper left corner.
    var centersSmallContent = false
    /// Whether content that has nowhere to go can still be pulled, and springs back.
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

    /// The legal offset next to another.
    func clamped(_ offset: ScrollVector, at scale: Double) -> ScrollVector {
        ScrollVector(x: offset.x.clamped(to: horizontal(at: scale)), y: offset.y.clamped(to: vertical(at: scale)))
    }

    func allows(_ offset: ScrollVector, at scale: Double) -> Bool { clamped(offset, at: scale) == offset }

    /// Whether a direction in which these offsets are legal can be pulled at all.
    func moves(_ range: ClosedRange<Double>) -> Bool { alwaysBounces || range.lowerBound < range.upperBound }

    /// The offset that is shown where the fingers ask for another: what is beyond the edge resists.
    func stretched(_ asked: ScrollVector, at scale: Double) -> ScrollVector {
        ScrollVector(
            x: stretched(asked.x, horizontal(at: scale), view.width, RubberBand.shown),
            y: stretched(asked.y, vertical(at: scale), view.height, RubberBand.shown)
        )
    }

    /// The offset that the fingers must ask for to see another.
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
