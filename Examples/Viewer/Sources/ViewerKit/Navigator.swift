import Foundation
public import TileCache
public import TileScroll

/// Turns what a person does into events of the library's scroll model, and that into viewports.
///
/// Everything that moves is the model's: throws, edges, animated zooms. What is added here is what window systems leave
/// to programs: wheels whose notches become smooth, keys that move the view for as long as they are held, and a world
/// that wraps, which the model sees as a row of copies with the view in the middle one.
public struct Navigator: Sendable {
    /// Octaves of zoom for each notch of the wheel.
    public static let octavesPerNotch = 0.5
    /// The part of a wheel's zoom that is still to come which is done in a second, as a rate.
    static let wheelRate = 18.0
    /// Screen pixels a second while an arrow key is held.
    public static let keySpeed = 1000.0
    /// Screen pixels per world pixel at the most.
    public static let largestScale = 8.0
    /// Copies of a world that wraps, an even number; the view begins in the middle.
    static let copies = 64.0

    private let world: ScrollSize
    /// What there is to see of it.
    private let contents: PixelRect
    private let wrapsX: Bool
    private var view: ScrollSize
    private var model: ProgrammaticZoomScroll
    private var latest: Int64 = .min
    private var pointer = ScrollVector.zero
    private var isButtonDown = false
    private var held: Set<InputEvent.Key> = []
    /// What the wheel still has to zoom, in octaves, and where.
    private var wheel = (octaves: 0.0, place: ScrollVector.zero)

    /// A finger's number that no touch screen uses.
    private static let mouse = -1

    /// Shows all that there is of a world.
    ///
    /// - Parameters:
    ///   - pyramid: of the world.
    ///   - contents: where it has tiles, in world pixels; everywhere unless given.
    ///   - view: the size of the window in pixels.
    /// - Throws: `ScrollError` for worlds and windows that cannot be shown.
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
        // A world that wraps has no left and right to be seen, but a top and a bottom.
        let fit = wrapsX ? rows : min(columns, rows)
        var model = try ProgrammaticZoomScroll(
            content: ScrollSize(width: world.width * (wrapsX ? copies : 1), height: world.height),
            view: view,
            scaleBounds: fit...max(largestScale, fit),
            scale: fit,
            centersSmallContent: true
        )
        // A click zooms by two, about its place; the model's own goes all the way.
        model.zoomsInOnDoubleTap = false
        model.zoomsOutOnDoubleTap = false
        return model
    }

    private var shift: Double { wrapsX ? Self.copies / 2 * world.width : 0 }
    private var middle: ScrollVector { ScrollVector(x: view.width / 2, y: view.height / 2) }

    /// All that there is to see.
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

    // MARK: What is seen

    /// Where the view is, in world pixels.
    public func viewport(at time: MonotonicTime) -> TileViewport { outer(model.state(at: time).viewport) }

    /// Where the view will be when it has come to rest by itself, for the cache to fetch ahead.
    public var destination: ViewportDestination? {
        model.destination.map { ViewportDestination(viewport: outer($0.viewport), time: $0.time) }
    }

    private func outer(_ viewport: TileViewport) -> TileViewport {
        var viewport = viewport
        viewport.center.x -= shift
        return viewport
    }

    /// Moves the view to a place at once.
    public mutating func look(at viewport: TileViewport, at time: MonotonicTime) {
        wheel.octaves = 0
        let scale = min(max(viewport.scale, model.scaleBounds.lowerBound), model.scaleBounds.upperBound)
        zoom(to: scale, on: viewport.center, animated: false, at: time)
    }

    /// Brings a point of the world to the middle of the view, at a scale.
    private mutating func zoom(to scale: Double, on point: WorldPoint, animated: Bool, at time: MonotonicTime) {
        let state = model.state(at: time)
        let place = ScrollVector(
            x: (point.x + shift) * state.scale - state.offset.x,
            y: point.y * state.scale - state.offset.y
        )
        model.handle(.zoom(to: scale, about: place, animated: animated), at: time)
    }

    /// Changes the scale by a factor; the place stays where it is on screen.
    private mutating func zoom(by factor: Double, keeping place: ScrollVector, at time: MonotonicTime) {
        wheel.octaves = 0
        let state = model.state(at: time)
        // A key that is pressed again while the view still zooms goes on from where that ends.
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

    /// Takes what a person has done.
    ///
    /// - Returns: what is the viewer's to do, not the view's.
    public mutating func handle(_ event: InputEvent, at time: MonotonicTime) -> ViewerCommand? {
        advance(to: time)
        switch event {
        case .buttonDown(let place, let clicks): press(place, clicks, at: time)
        case .pointerMoved(let place):
            pointer = place
            if isButtonDown { model.handle(.touchMoved(id: Self.mouse, to: place), at: time) }
        case .buttonUp:
            if isButtonDown { model.handle(.touchEnded(id: Self.mouse), at: time) }
            isButtonDown = false
        case .wheel(let notches, let place):
            guard notches.isFinite else { break }
            // The wheel may not run ahead of what a person sees by more than a few octaves.
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
        case .o: return .toggleOverlay
        case .less: return .scaleMemory(octaves: -1)
        case .more: return .scaleMemory(octaves: 1)
        case .p: return .screenshot(path: nil)
        case .q: return .quit
        }
        return nil
    }

    /// The middle of the world in the copy that is on screen.
    private func nearestMiddle(at time: MonotonicTime) -> WorldPoint {
        var point = WorldPoint(x: world.width / 2, y: world.height / 2)
        guard wrapsX else { return point }
        point.x += ((viewport(at: time).center.x - point.x) / world.width).rounded() * world.width
        return point
    }

    /// The point in the middle and the scale stay; what held the view lets go of it. A size that cannot be shown is
    /// ignored: a window that is being made small passes through some.
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

    /// Lets time pass: what the wheel and the keys still have to do until then. To be called once for each frame.
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
        if way != .zero { model.handle(.scroll(by: way), at: time) }
    }
}
