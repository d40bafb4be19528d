import CSDL2
import TileCache
import TileScroll
import TileTextures
import ViewerKit

/// OpenGL 3.3 core in a window of SDL.
final class GLContext {
    /// There is no OpenGL 3.3. Other errors have other types.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private let context: SDL_GLContext

    /// Makes the context current.
    init(_ window: OpaquePointer) throws {
        guard let context = SDL_GL_CreateContext(window) else { throw Self.missing() }
        self.context = context
        var (major, minor): (GLint, GLint) = (0, 0)
        glGetIntegerv(GLenum(GL_MAJOR_VERSION), &major)
        glGetIntegerv(GLenum(GL_MINOR_VERSION), &minor)
        guard (major, minor) >= (3, 3) else {
            throw Missing(description: "OpenGL 3.3 was not found, but \(major).\(minor)")
        }
    }

    deinit { SDL_GL_DeleteContext(context) }

    private static func missing() -> Missing {
        Missing(description: Window.failure("OpenGL 3.3 was not found").description)
    }

    /// A window that can have a context.
    static func makeWindow(
        _ title: String,
        _ width: Int,
        _ height: Int,
        isVisible: Bool,
        isDebug: Bool
    ) throws -> OpaquePointer {
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3)
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3)
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, Int32(SDL_GL_CONTEXT_PROFILE_CORE.rawValue))
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_FLAGS, isDebug ? Int32(SDL_GL_CONTEXT_DEBUG_FLAG.rawValue) : 0)
        SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0)
        let shown = isVisible ? SDL_WINDOW_SHOWN.rawValue : SDL_WINDOW_HIDDEN.rawValue
        let flags =
            SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_OPENGL.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue | shown
        let centre = Int32(bitPattern: SDL_WINDOWPOS_CENTERED_MASK)
        guard let window = SDL_CreateWindow(title, centre, centre, Int32(width), Int32(height), flags) else {
            throw missing()
        }
        return window
    }

    /// Size of a window in points and in pixels.
    static func sizes(of window: OpaquePointer) -> (points: ScrollSize, pixels: ScrollSize) {
        var (width, height, columns, rows): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        SDL_GetWindowSize(window, &width, &height)
        SDL_GL_GetDrawableSize(window, &columns, &rows)
        return (
            ScrollSize(width: Double(width), height: Double(height)),
            ScrollSize(width: Double(columns), height: Double(rows))
        )
    }
}

/// Draws with OpenGL from texture slots.
final class GLPainter: Painter {
    struct Options {
        /// Number of slots; `nil` for 256 or what the screen needs, bounded by bytes.
        var slots: Int?
        /// Maximum bytes of a frame's uploads.
        var uploadBytes = 4_000_000
        var isDebug = false
        var width: Int
        var height: Int
        var format: TilePixelFormat
        var isOpaque: Bool

        init(_ world: OpenWorld) {
            width = world.pyramid.levels.map(\.pixelWidth).max() ?? 256
            height = world.pyramid.levels.map(\.pixelHeight).max() ?? 256
            format = world.options.format
            isOpaque = !world.isTransparent
        }

        func makeSlots(for renderer: GLRenderer) throws -> TextureSlots {
            var options = TextureSlotOptions()
            if let slots, slots > renderer.maximumSlots {
                throw ViewerError(
                    "--texture-slots: at most \(renderer.maximumSlots) were expected, which OpenGL has here, not \(slots)"
                )
            }
            options.slotLimit = slotLimit(needed: 0, current: 0, for: renderer)
            (options.width, options.height, options.format) = (width, height, format)
            options.uploadBytes = .bytes(uploadBytes)
            return try TextureSlots(options)
        }

        /// Bytes of a slot's pixels.
        var slotBytes: Int { width * height * 4 }

        func slotLimit(needed: Int, current: Int, for renderer: GLRenderer) -> Int {
            TextureText.slots(
                requested: slots,
                needed: needed,
                current: current,
                maximum: renderer.maximumSlots,
                slotBytes: slotBytes
            )
        }

        func makeRenderer() throws -> GLRenderer {
            try GLRenderer(slotWidth: width, slotHeight: height, format: format, isOpaque: isOpaque)
        }
    }

    /// Textures of one pane: caches number their tiles independently.
    private struct Pane {
        let renderer: GLRenderer
        var slots: TextureSlots
        /// Columns and rows of the tile in each slot.
        var sizes: [SIMD2<Int>] = []
    }

    private let window: OpaquePointer
    private let context: GLContext
    private let options: Options
    /// At least one, except while the window closes.
    private var panes: [Pane] = []
    private var letters: (factor: Double, cells: ShapeMesh.LetterCells)?
    private var text = TextureText()
    private(set) var peakTextureBytes = 0
    let isPaced: Bool
    let isFull = true
    var usesProcessor: Bool { panes.first?.renderer.usesProcessor ?? false }
    var textureText: TextureText? { text }

    static let background = Colour(0x202428)

    init(_ window: OpaquePointer, _ options: Options) throws {
        (self.window, self.options) = (window, options)
        context = try GLContext(window)
        isPaced = SDL_GL_SetSwapInterval(1) == 0
        try addPane()
    }

    // Before the context.
    deinit { panes.removeAll() }

    private func addPane() throws {
        let renderer = try options.makeRenderer()
        panes.append(Pane(renderer: renderer, slots: try options.makeSlots(for: renderer)))
    }

    private var size: (width: Int, height: Int) {
        let size = GLContext.sizes(of: window).pixels
        return (Int(size.width), Int(size.height))
    }

    func draw(_ frames: [PaneFrame]) throws {
        while panes.count < frames.count { try addPane() }
        let size = size
        panes.first?.renderer.clear(Self.background, width: size.width, height: size.height)
        var bytes = 0
        for (index, frame) in frames.enumerated() { bytes += try draw(frame, in: &panes[index], isFirst: index == 0) }
        peakTextureBytes = max(peakTextureBytes, bytes)
    }

    /// - Returns: Bytes of the pane's textures.
    private func draw(_ frame: PaneFrame, in pane: inout Pane, isFirst: Bool) throws -> Int {
        let step = pane.slots.update(frame.frame, of: frame.view)
        try pane.renderer.carryOut(step, &pane.slots, &pane.sizes)
        pane.renderer.draw(step.quads(frame.viewport, pane.sizes), in: frame.area, windowHeight: size.height)
        frame.view.levelBias = step.levelBias
        if isFirst {
            text.used = pane.slots.statistics.usedSlots
            text.limit = pane.slots.slotLimit
            text.needed = step.neededSlots
            text.levelBias = step.levelBias
            text.uploads = step.uploads.count
            text.allUploads = pane.slots.statistics.uploads
            text.peakBytes = pane.slots.statistics.peakUploadedBytes.bytes
            text.budget = options.uploadBytes
        }
        // From the next frame.
        pane.slots.slotLimit = options.slotLimit(
            needed: step.neededSlots,
            current: step.slotCount,
            for: pane.renderer
        )
        return step.slotCount * options.slotBytes
    }

    func draw(_ shapes: [Shape], pixelsPerPoint: Double) {
        guard let renderer = panes.first?.renderer else { return }
        if letters?.factor != pixelsPerPoint, let picture = try? LetterPicture(pixelsPerPoint: pixelsPerPoint) {
            let surface = picture.surface.pointee
            if let pixels = surface.pixels {
                renderer.setLetters(
                    pixels,
                    width: Int(surface.w),
                    height: Int(surface.h),
                    bytesPerRow: Int(surface.pitch)
                )
            }
            letters = (pixelsPerPoint, picture.cells)
        }
        guard let letters else { return }
        let mesh = ShapeMesh(shapes, factor: pixelsPerPoint, cells: letters.cells)
        renderer.draw(mesh, width: size.width, height: size.height)
    }

    func paint() { panes.first?.renderer.flush() }

    func show() { SDL_GL_SwapWindow(window) }

    func readPixels() throws -> (width: Int, height: Int, rgba: [UInt8]) {
        let (width, height) = size
        guard let renderer = panes.first?.renderer, width > 0, height > 0 else {
            throw ViewerError("the window has no size")
        }
        return (width, height, renderer.readPixels(width: width, height: height))
    }

    /// OpenGL keeps textures as long as the context.
    func loseTextures() {}
}

extension GLRenderer {
    /// Uploads a frame's tiles, notes how long it took, and returns the bytes.
    @discardableResult
    func carryOut(_ step: TextureFrame, _ slots: inout TextureSlots, _ sizes: inout [SIMD2<Int>]) throws -> Int {
        // Without an upload the old slots suffice: the first frame only counts how many are needed.
        guard !step.uploads.isEmpty else { return 0 }
        try resizeSlots(to: step.slotCount) { $0 < sizes.count && sizes[$0].x > 0 }
        sizes += [SIMD2<Int>](repeating: SIMD2(0, 0), count: max(step.slotCount - sizes.count, 0))
        let watch = StopWatch()
        upload(step.uploads)
        var bytes = 0
        for upload in step.uploads {
            bytes += upload.tile.byteCount
            sizes[upload.slot] = SIMD2(upload.tile.width, upload.tile.height)
        }
        slots.noteUploads(.bytes(bytes), took: .nanoseconds(watch.elapsed.wall))
        return bytes
    }
}

extension TextureFrame {
    /// The placements on screen.
    func quads(_ viewport: TileViewport, _ sizes: [SIMD2<Int>]) -> [TileQuad] {
        placements.compactMap {
            TileQuad(
                slot: $0.slot,
                world: $0.worldRectangle,
                part: $0.slotRectangle,
                width: sizes[$0.slot].x,
                height: sizes[$0.slot].y,
                viewport: viewport
            )
        }
    }
}
