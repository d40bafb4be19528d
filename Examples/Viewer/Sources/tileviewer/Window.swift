import CSDL2
import Foundation
import TileCache
import TileScroll
import ViewerKit

/// Wraps SDL's window, without any decisions.
final class Window {
    private let window: OpaquePointer
    /// `nil` only while the window closes.
    private var drawing: (any Painter)?
    /// Pixels of the window for each of the points in which the window system counts.
    private(set) var pixelsPerPoint = 1.0
    /// Sizes requested by a script.
    private var resizes: [InputEvent] = []

    var painter: any Painter {
        guard let drawing else { preconditionFailure("the window is closed") }
        return drawing
    }

    /// - Parameters:
    ///   - size: Size of the window, in points.
    ///   - isInPixels: Whether `size` is in pixels instead, for the view of a trace.
    ///   - slots: Options of the texture slots; `nil` draws with SDL.
    init(title: String, size: ScrollSize, isInPixels: Bool, slots: GLPainter.Options?, blends: Bool) throws {
        let (width, height) = (Int(size.width), Int(size.height))
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear")
        // Ctrl-C ends the program as usual.
        SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
        // Otherwise SDL shows painted windows by OpenGL: 70 MiB of Mesa without a graphics card.
        SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0")
        guard SDL_Init(SDL_INIT_VIDEO) == 0 else { throw Self.failure("no display could be opened") }
        try Display.check(
            driver: String(cString: SDL_GetCurrentVideoDriver()),
            requested: SDL_GetHint(SDL_HINT_VIDEODRIVER).map { String(cString: $0) }
        )
        if let slots {
            do {
                let window = try GLContext.makeWindow(title, width, height, isVisible: true, isDebug: slots.isDebug)
                do {
                    drawing = try GLPainter(window, slots)
                } catch {
                    SDL_DestroyWindow(window)
                    throw error
                }
                self.window = window
                measure()
                if isInPixels, pixelsPerPoint != 1 {
                    let points = size.points(pixelsPerPoint: pixelsPerPoint)
                    SDL_SetWindowSize(window, Int32(points.width), Int32(points.height))
                }
                return
            } catch let error as GLContext.Missing {
                FileHandle.standardError.write(
                    Data("tileviewer: \(error); SDL draws instead, as with --software\n".utf8)
                )
            }
        }
        guard
            let window = SDL_CreateWindow(
                title,
                Int32(bitPattern: SDL_WINDOWPOS_CENTERED_MASK),
                Int32(bitPattern: SDL_WINDOWPOS_CENTERED_MASK),
                Int32(width),
                Int32(height),
                SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_SHOWN.rawValue
            )
        else { throw Self.failure("no window could be opened") }
        self.window = window
        drawing = try SoftwarePainter(window, blends: blends)
    }

    deinit {
        drawing = nil
        SDL_DestroyWindow(window)
        SDL_Quit()
    }

    static func failure(_ text: String) -> ViewerError {
        ViewerError("\(text): \(String(cString: SDL_GetError()))")
    }

    /// Size of the window in its pixels.
    var size: ScrollSize {
        let size = GLContext.sizes(of: window)
        return drawing is GLPainter ? size.pixels : size.points
    }

    private func measure() {
        guard drawing is GLPainter else { return }
        let size = GLContext.sizes(of: window)
        pixelsPerPoint = size.points.width > 0 ? size.pixels.width / size.points.width : 1
    }

    /// Waits until the next frame is due. A display that paces frames waits itself, so only long waits are made here.
    func wait(nanoseconds: Int64) {
        let milliseconds = nanoseconds / 1_000_000
        if milliseconds > (painter.isPaced ? 8 : 0) { SDL_Delay(UInt32(min(milliseconds, 100))) }
    }

    /// Writes the picture drawn so far, before it is shown.
    func writePicture(to path: String) throws {
        let picture = try painter.readPixels()
        let file = Data(PNG.encoded(rgba: picture.rgba, width: picture.width, height: picture.height))
        guard (try? file.write(to: URL(fileURLWithPath: path))) != nil else {
            throw ViewerError("\(path): a file that can be written was expected")
        }
        print("picture   \(path)")
    }

    // MARK: Input

    /// Changes the size, in pixels.
    func resize(to size: ScrollSize) {
        let (width, height) = (min(max(size.width, 64), 16_384), min(max(size.height, 64), 16_384))
        SDL_SetWindowSize(window, Int32(width / pixelsPerPoint), Int32(height / pixelsPerPoint))
        resizes.append(.resized(ScrollSize(width: width.rounded(.down), height: height.rounded(.down))))
    }

    /// Events since the last call, in pixels.
    func takeEvents() -> [InputEvent] {
        var events = resizes
        resizes.removeAll()
        var event = SDL_Event()
        while SDL_PollEvent(&event) != 0 {
            if event.type == SDL_RENDER_TARGETS_RESET.rawValue || event.type == SDL_RENDER_DEVICE_RESET.rawValue {
                painter.loseTextures()
            } else if let input = SDLInput.event(event, in: window) {
                if case .resized = input {
                    measure()
                    events.append(.resized(size))
                } else {
                    events.append(input.scaled(by: pixelsPerPoint))
                }
            }
        }
        return events
    }
}
