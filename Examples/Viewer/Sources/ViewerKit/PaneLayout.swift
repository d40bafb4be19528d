public import PanTraces
public import TileCache
public import TileScroll

/// Panes of equal size from left to right in one window, and which of them input belongs to.
///
/// With one pane it is the whole window.
public struct PaneLayout: Hashable, Sendable {
    /// Columns between two panes.
    public static let gap = 2

    /// Number of panes.
    public let count: Int
    /// Size of the window in pixels.
    public private(set) var window: ScrollSize
    /// Pane of the mouse button or the fingers that are down, which keeps them outside of its area too.
    private var held: Int?
    private var fingers: Set<Int> = []

    /// Divides a window.
    ///
    /// - Precondition: `count` is 1 or more.
    public init(count: Int, window: ScrollSize) {
        precondition(count > 0, "a window has a pane")
        (self.count, self.window) = (count, window)
    }

    /// Size of a window with panes of a size.
    public static func window(count: Int, pane: PanTraceHeader.Size) -> PanTraceHeader.Size {
        PanTraceHeader.Size(width: pane.width * Double(count) + Double(gap * (count - 1)), height: pane.height)
    }

    /// Size of a pane in pixels, at least 1 in each direction.
    public var pane: ScrollSize {
        let width = (window.width - Double(Self.gap * (count - 1))) / Double(count)
        return ScrollSize(width: max(width.rounded(.down), 1), height: max(window.height, 1))
    }

    /// Area of a pane, in pixels of the window.
    public func area(_ index: Int) -> PixelRectangle {
        let (width, height) = (Int(pane.width), Int(pane.height))
        return PixelRectangle(x: index * (width + Self.gap), y: 0, width: width, height: height)
    }

    private func pane(at place: ScrollVector) -> Int {
        min(max(Int(place.x / (pane.width + Double(Self.gap))), 0), count - 1)
    }

    /// Converts an event of the window to one of a pane, all of which show the same view.
    public mutating func local(_ event: InputEvent) -> InputEvent {
        if case .resized(let size) = event {
            window = size
            return .resized(pane)
        }
        guard count > 1 else { return event }
        switch event {
        case .buttonDown(let at, _): held = pane(at: at)
        case .fingerDown(let id, let at):
            if fingers.isEmpty { held = pane(at: at) }
            fingers.insert(id)
        case .fingerUp(let id): fingers.remove(id)
        default: break
        }
        defer {
            if case .buttonUp = event { held = nil }
            if case .fingerUp = event, fingers.isEmpty { held = nil }
        }
        return event.mapped { ScrollVector(x: $0.x - Double(area(held ?? pane(at: $0)).x), y: $0.y) }
    }
}

extension ScrollSize {
    /// Points of a window that has this size in pixels, at least 1 in each direction.
    public func points(pixelsPerPoint: Double) -> ScrollSize {
        guard pixelsPerPoint > 0 else { return self }
        return ScrollSize(
            width: max((width / pixelsPerPoint).rounded(), 1),
            height: max((height / pixelsPerPoint).rounded(), 1)
        )
    }
}

extension TileViewport {
    /// The same part of the world in a view of another size, with more of it at two sides if the shape differs.
    public func fitted(to size: ScrollSize) -> TileViewport {
        var viewport = self
        viewport.scale *= min(size.width / width, size.height / height)
        (viewport.width, viewport.height) = (size.width, size.height)
        return viewport
    }
}
