import Foundation
public import TileCache
public import TileScroll

/// Turns input into events of the library's scroll model, and its state into viewports.
///
/// Flings, edges and animated zooms are the model's. This type adds what window systems leave to programs: smooth wheel
/// notches, keys that move the view while held, and wrapping worlds. In the model a wrapping world is a row of
/// copies, with the view in the middle one.
public struct Navigator: Sendable {
    /// Octaves of zoom for each notch of the wheel.
    public static let octavesPerNotch = 0.5
    /// Rate at which the remaining wheel zoom is applied, per second.
    static let wheelRate = 18.0
    /// Screen pixels a second while an arrow key is held.
    public static let keySpeed = 1000.0
    /// Maximum scale, in screen pixels per world pixel.
    public static let largestScale = 8.0
    /// Copies of a wrapping world, an even number; the view starts in the middle.
    static let copies = 64.0

    private let world: ScrollSize
    /// Part of the world with tiles.
    private let contents: PixelRect
    private let wrapsX: Bool
    private var view: ScrollSize
    private var model: ProgrammaticZoomScroll
    private var latest: Int64 = .min
    private var pointer = ScrollVector.zero
    private var isButtonDown = false
    private var held: Set<InputEvent.Key> = []
    /// Remaining zoom of the wheel in octaves, and its centre.
    private var wheel = (octaves: 0.0, place: ScrollVector.zero)

    /// Whether keys turn the view. Default: `true`.
    public var canTurn = true
    /// Rotation of the last view that ``look(at:at:)`` set, in radians.
    private var lookedRotation = 0.0
    /// Steps of 15 degrees by which keys have turned the view since, clockwise over the world.
    private var turns = 0
    private var rotation: Double { lookedRotation + Double(turns) * .pi / 12 }

    /// A finger number that no touch screen uses.
    private static let mouse = -1

    /// Shows the whole world.
    ///
    /// - Parameters:
    ///   - pyramid: The world's pyramid.
    ///   - contents: Area with tiles, in world pixels. Default: the whole world.
    ///   - view: Size of the window in pixels.
    /// - Throws: `ScrollError` if the world or the window cannot be shown.
    public init(pyramid: TilePyramid, contents: PixelRect? = nil, view: ScrollSize) throws(ScrollError) {
        world = ScrollSize(width: pyramid.worldWidth, height: pyramid.worldHeight)
        let all = PixelRect(minX: 0, minY: 0, maxX: world.width, maxY: world.height)
        let part = (contents ?? all).intersection(all)
        self.contents = part.isEmpty ? all : part
        wrapsX = pyramid.wrapsX
        self.view = view
        model = try Self.model(of: world, wrapsX: wrapsX, view: view)
        look(at: overview, at: MonotonicTime(nanoseconds: .min))
    }

    private static func model(
        of world: ScrollSize,
        wrapsX: Bool,
        view: ScrollSize
    ) throws(ScrollError) -> ProgrammaticZoomScroll {
        let columns = view.width / world.width
        let rows = view.height / world.height
        // A wrapping world has no left and right edges, but a top and a bottom.
        let fit = wrapsX ? rows : min(columns, rows)
        var model = try ProgrammaticZoomScroll(
            content: ScrollSize(width: world.width * (wrapsX ? copies : 1), height: world.height),
            view: view,
            scaleBounds: fit...max(largestScale, fit),
            scale: fit,
            centersSmallContent: true
        )
        // A double click zooms by two; the model's own would zoom in fully.
        model.zoomsInOnDoubleTap = false
        model.zoomsOutOnDoubleTap = false
        return model
    }

    private var shift: Double { wrapsX ? Self.copies / 2 * world.width : 0 }
    private var middle: ScrollVector { ScrollVector(x: view.width / 2, y: view.height / 2) }

    /// Area that can be shown.
    public var overview: TileViewport {
        let isAll = contents.width >= world.width && contents.height >= world.height
        let bounds = model.scaleBounds
        let fit = min(view.width / contents.width, view.height / contents.height)
        return TileViewport(
            center: WorldPoint(x: (contents.minX + contents.maxX) / 2, y: (contents.minY + contents.maxY) / 2),
            width: view.width,
            height: view.height,
            scale: isAll ? bounds.lowerBound : min(max(fit, bounds.lowerBound), bounds.upperBound)
        )
    }

    // MARK: Viewports

    /// Position of the view, in world pixels.
    public func viewport(at time: MonotonicTime) -> TileViewport { outer(model.state(at: time).viewport) }

    /// Position at which the view will come to rest, for prefetching.
    public var destination: ViewportDestination? {
        model.destination.map { ViewportDestination(viewport: outer($0.viewport), time: $0.time) }
    }

    private func outer(_ viewport: TileViewport) -> TileViewport {
        var viewport = viewport
        viewport.center.x -= shift
        viewport.rotation = rotation
        return viewport
    }

    /// Moves the view to a place at once, and rotates it as the viewport if ``canTurn``.
    public mutating func look(at viewport: TileViewport, at time: MonotonicTime) {
        wheel.octaves = 0
        (lookedRotation, turns) = (canTurn ? viewport.rotation : 0, 0)
        let scale = min(max(viewport.scale, model.scaleBounds.lowerBound), model.scaleBounds.upperBound)
        zoom(to: scale, on: viewport.center, animated: false, at: time)
    }

    /// Centres the view on a point of the world, at a scale.
    private mutating func zoom(to scale: Double, on point: WorldPoint, animated: Bool, at time: MonotonicTime) {
        let state = model.state(at: time)
        let place = ScrollVector(
            x: (point.x + shift) * state.scale - state.offset.x,
            y: point.y * state.scale - state.offset.y
        )
        model.handle(.zoom(to: scale, about: place, animated: animated), at: time)
    }

    /// Multiplies the scale by a factor about a fixed place on screen.
    private mutating func zoom(by factor: Double, keeping place: ScrollVector, at time: MonotonicTime) {
        wheel.octaves = 0
        let state = model.state(at: time)
        // A key pressed during a zoom continues from the end of that zoom.
        let aim = (model.destination?.viewport.scale ?? state.scale) * factor
        let scale = min(max(aim, model.scaleBounds.lowerBound), model.scaleBounds.upperBound)
        let part = state.scale / scale
        let about = ScrollVector(
            x: place.x + (middle.x - place.x) * part,
            y: place.y + (middle.y - place.y) * part
        )
        model.handle(.zoom(to: scale, about: about, animated: true), at: time)
    }

    // MARK: Input

    /// A vector on screen in the model, whose view is never turned.
    private func unturned(_ vector: ScrollVector) -> ScrollVector {
        guard rotation != 0 else { return vector }
        let (cosine, sine) = (cos(rotation), sin(rotation))
        return ScrollVector(x: vector.x * cosine - vector.y * sine, y: vector.x * sine + vector.y * cosine)
    }

    private func unturned(place: ScrollVector) -> ScrollVector {
        guard rotation != 0 else { return place }
        let from = unturned(ScrollVector(x: place.x - middle.x, y: place.y - middle.y))
        return ScrollVector(x: from.x + middle.x, y: from.y + middle.y)
    }

    private mutating func turn(by steps: Int) {
        guard canTurn else { return }
        // A drag would jump.
        if isButtonDown { return }
        turns = (turns + steps) % 24
    }

    /// Handles an input event.
    ///
    /// - Returns: The effect on the viewer itself, if there is one.
    public mutating func handle(_ event: InputEvent, at time: MonotonicTime) -> ViewerCommand? {
        advance(to: time)
        switch event.mapped(unturned(place:)) {
        case .buttonDown(let place, let clicks): press(place, clicks, at: time)
        case .pointerMoved(let place):
            pointer = place
            if isButtonDown { model.handle(.touchMoved(id: Self.mouse, to: place), at: time) }
        case .buttonUp:
            if isButtonDown { model.handle(.touchEnded(id: Self.mouse), at: time) }
            isButtonDown = false
        case .wheel(let notches, let place):
            guard notches.isFinite else { break }
            // The wheel may be ahead of the drawn scale by a few octaves only.
            wheel.octaves = min(max(wheel.octaves + notches * Self.octavesPerNotch, -6), 6)
            wheel.place = place
        case .fingerDown(let id, let place):
            wheel.octaves = 0
            model.handle(.touchBegan(id: id, at: place), at: time)
        case .fingerMoved(let id, let place): model.handle(.touchMoved(id: id, to: place), at: time)
        case .fingerUp(let id): model.handle(.touchEnded(id: id), at: time)
        case .magnified(let factor, let place): model.handle(.magnify(by: factor, about: place), at: time)
        case .keyDown(let key): return press(key, at: time)
        case .keyUp(let key): held.remove(key)
        case .resized(let size): resize(to: size, at: time)
        case .closed: return .quit
        }
        return nil
    }

    private mutating func press(_ place: ScrollVector, _ clicks: Int, at time: MonotonicTime) {
        pointer = place
        wheel.octaves = 0
        if clicks == 2 {
            zoom(by: 2, keeping: place, at: time)
        } else {
            isButtonDown = true
            model.handle(.touchBegan(id: Self.mouse, at: place), at: time)
        }
    }

    private mutating func press(_ key: InputEvent.Key, at time: MonotonicTime) -> ViewerCommand? {
        switch key {
        case .left, .right, .up, .down: held.insert(key)
        case .plus: zoom(by: 2, keeping: middle, at: time)
        case .minus: zoom(by: 0.5, keeping: middle, at: time)
        case .zero: zoom(by: 1 / model.state(at: time).scale, keeping: middle, at: time)
        case .home:
            wheel.octaves = 0
            zoom(to: model.scaleBounds.lowerBound, on: nearestMiddle(at: time), animated: true, at: time)
        case .clockwise: turn(by: 1)
        case .anticlockwise: turn(by: -1)
        case .o: return .toggleOverlay
        case .less: return .scaleMemory(octaves: -1)
        case .more: return .scaleMemory(octaves: 1)
        case .p: return .screenshot(path: nil)
        case .q: return .quit
        }
        return nil
    }

    /// Middle of the world in the copy on screen.
    private func nearestMiddle(at time: MonotonicTime) -> WorldPoint {
        var point = WorldPoint(x: world.width / 2, y: world.height / 2)
        guard wrapsX else { return point }
        point.x += ((viewport(at: time).center.x - point.x) / world.width).rounded() * world.width
        return point
    }

    /// Keeps the middle point and the scale, and ends gestures. Ignores sizes that cannot be shown, which occur while a
    /// window is made small.
    private mutating func resize(to size: ScrollSize, at time: MonotonicTime) {
        guard size != view, let resized = try? Self.model(of: world, wrapsX: wrapsX, view: size) else { return }
        var viewport = viewport(at: time)
        let wasWhole = viewport.scale <= model.scaleBounds.lowerBound * 1.000_001
        view = size
        model = resized
        isButtonDown = false
        if wasWhole { viewport.scale = model.scaleBounds.lowerBound }
        look(at: viewport, at: time)
    }

    /// Advances time by the remaining motion of wheel and keys. Call it once for each frame.
    public mutating func advance(to time: MonotonicTime) {
        defer { latest = max(latest, time.nanoseconds) }
        let elapsed = latest == .min ? 0 : Double(min(max(time.nanoseconds - latest, 0), 250_000_000)) / 1e9
        if elapsed > 0 {
            turnWheel(elapsed, at: time)
            moveByKeys(elapsed, at: time)
        }
        model.advance(to: time)
    }

    private mutating func turnWheel(_ elapsed: Double, at time: MonotonicTime) {
        guard wheel.octaves != 0 else { return }
        var part = wheel.octaves * min(elapsed * Self.wheelRate, 1)
        if (wheel.octaves - part).magnitude < 0.002 { part = wheel.octaves }
        wheel.octaves -= part
        model.handle(.magnify(by: exp2(part), about: wheel.place), at: time)
    }

    private mutating func moveByKeys(_ elapsed: Double, at time: MonotonicTime) {
        var way = ScrollVector.zero
        let step = Self.keySpeed * elapsed
        if held.contains(.left) { way.x -= step }
        if held.contains(.right) { way.x += step }
        if held.contains(.up) { way.y -= step }
        if held.contains(.down) { way.y += step }
        if way != .zero { model.handle(.scroll(by: unturned(way)), at: time) }
    }
}
