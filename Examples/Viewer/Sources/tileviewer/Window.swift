import CSDL2
import Foundation
import TileCache
import TileScroll
import ViewerKit

/// Wraps SDL, without any decisions.
final class Window {
    private let window: OpaquePointer
    private let renderer: OpaquePointer
    private var textures: [TileIdentity: OpaquePointer] = [:]
    /// `nil` only while the window closes.
    private var letters: Letters?
    /// Bytes of the tiles' textures, and their peak.
    private var textureBytes = 0
    private(set) var peakTextureBytes = 0
    private let isPaced: Bool
    /// Whether tiles have alpha.
    private let blends: Bool
    /// Sizes requested by a script.
    private var resizes: [InputEvent] = []

    init(title: String, width: Int, height: Int, usesSoftware: Bool, blends: Bool) throws {
        self.blends = blends
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear")
        // Ctrl-C ends the program as usual.
        SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
        // Otherwise SDL shows painted windows by OpenGL: 70 MiB of Mesa without a graphics card.
        if usesSoftware { SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0") }
        guard SDL_Init(SDL_INIT_VIDEO) == 0 else { throw Self.failure("no display could be opened") }
        try Display.check(
            driver: String(cString: SDL_GetCurrentVideoDriver()),
            requested: SDL_GetHint(SDL_HINT_VIDEODRIVER).map { String(cString: $0) }
        )
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
        let accelerated = SDL_RENDERER_ACCELERATED.rawValue | SDL_RENDERER_PRESENTVSYNC.rawValue
        var made = usesSoftware ? nil : SDL_CreateRenderer(window, -1, accelerated)
        isPaced = made != nil
        if made == nil { made = SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue) }
        guard let renderer = made else { throw Self.failure("nothing can draw into the window") }
        self.renderer = renderer
        letters = try Letters(renderer)
        SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND)
    }

    deinit {
        letters = nil
        for texture in textures.values { SDL_DestroyTexture(texture) }
        SDL_DestroyRenderer(renderer)
        SDL_DestroyWindow(window)
        SDL_Quit()
    }

    static func failure(_ text: String) -> ViewerError {
        ViewerError("\(text): \(String(cString: SDL_GetError()))")
    }

    /// Waits until the next frame is due. A display that paces frames waits itself, so only long waits are made here.
    func wait(nanoseconds: Int64) {
        let milliseconds = nanoseconds / 1_000_000
        if milliseconds > (isPaced ? 8 : 0) { SDL_Delay(UInt32(min(milliseconds, 100))) }
    }

    // MARK: Drawing

    func draw(_ frame: TileFrame, viewport: TileViewport) {
        SDL_SetRenderDrawColor(renderer, 0x20, 0x24, 0x28, 255)
        SDL_RenderClear(renderer)
        for placement in frame {
            let tile = placement.tile
            guard
                let draw = TileDraw(
                    world: placement.worldRectangle,
                    part: placement.tileRectangle,
                    width: tile.width,
                    height: tile.height,
                    viewport: viewport
                ), let texture = texture(of: tile)
            else { continue }
            var source = SDL_Rect(draw.source)
            var destination = SDL_FRect(draw.destination)
            if let clip = draw.clip {
                var clip = SDL_Rect(clip)
                SDL_RenderSetClipRect(renderer, &clip)
            }
            SDL_RenderCopyF(renderer, texture, &source, &destination)
            if draw.clip != nil { SDL_RenderSetClipRect(renderer, nil) }
        }
        // Textures do not count against the limit, so only drawn tiles have one.
        for identity in frame.disappeared {
            guard let texture = textures.removeValue(forKey: identity) else { continue }
            textureBytes -= bytes(of: texture)
            SDL_DestroyTexture(texture)
        }
    }

    private func texture(of tile: LeasedTile) -> OpaquePointer? {
        if let texture = textures[tile.identity] { return texture }
        guard
            let texture = SDL_CreateTexture(
                renderer,
                UInt32((tile.format == .bgra8 ? SDL_PIXELFORMAT_BGRA32 : SDL_PIXELFORMAT_RGBA32).rawValue),
                Int32(SDL_TEXTUREACCESS_STATIC.rawValue),
                Int32(tile.width),
                Int32(tile.height)
            )
        else { return nil }
        SDL_SetTextureBlendMode(texture, blends ? SDL_BLENDMODE_BLEND : SDL_BLENDMODE_NONE)
        tile.withUnsafeBytes { bytes in
            _ = SDL_UpdateTexture(texture, nil, bytes.baseAddress, Int32(tile.bytesPerRow))
        }
        textures[tile.identity] = texture
        textureBytes += bytes(of: texture)
        peakTextureBytes = max(peakTextureBytes, textureBytes)
        return texture
    }

    private func bytes(of texture: OpaquePointer) -> Int {
        var (width, height): (Int32, Int32) = (0, 0)
        SDL_QueryTexture(texture, nil, nil, &width, &height)
        return Int(width) * Int(height) * 4
    }

    func draw(_ shapes: [Shape]) {
        for shape in shapes {
            switch shape {
            case .fill(let area, let colour):
                setColour(colour)
                var place = SDL_FRect(area)
                SDL_RenderFillRectF(renderer, &place)
            case .outline(let area, let colour):
                setColour(colour)
                var place = SDL_FRect(area)
                SDL_RenderDrawRectF(renderer, &place)
            case .text(let text, let x, let y, let colour):
                letters?.draw(text, x: x, y: y, colour)
            }
        }
    }

    private func setColour(_ colour: Colour) {
        SDL_SetRenderDrawColor(renderer, colour.red, colour.green, colour.blue, colour.alpha)
    }

    /// Flushes SDL's queue: all of the painting, without a graphics card.
    func paint() { SDL_RenderFlush(renderer) }

    func show() { SDL_RenderPresent(renderer) }

    /// Writes the picture drawn so far, before it is shown.
    func writePicture(to path: String) throws {
        var (width, height): (Int32, Int32) = (0, 0)
        SDL_GetRendererOutputSize(renderer, &width, &height)
        guard width > 0, height > 0 else { throw Self.failure("\(path): the window has no size") }
        var pixels = [UInt8](repeating: 0, count: Int(width) * Int(height) * 4)
        let status = pixels.withUnsafeMutableBytes {
            SDL_RenderReadPixels(
                renderer,
                nil,
                UInt32(SDL_PIXELFORMAT_RGBA32.rawValue),
                $0.baseAddress,
                width * 4
            )
        }
        guard status == 0 else { throw Self.failure("\(path): the window cannot be read") }
        let picture = Data(PNG.encoded(rgba: pixels, width: Int(width), height: Int(height)))
        guard (try? picture.write(to: URL(fileURLWithPath: path))) != nil else {
            throw ViewerError("\(path): a file that can be written was expected")
        }
        print("picture   \(path)")
    }

    // MARK: Input

    func resize(to size: ScrollSize) {
        let (width, height) = (min(max(size.width, 64), 16_384), min(max(size.height, 64), 16_384))
        SDL_SetWindowSize(window, Int32(width), Int32(height))
        resizes.append(.resized(ScrollSize(width: width.rounded(.down), height: height.rounded(.down))))
    }

    /// Events since the last call.
    func takeEvents() -> [InputEvent] {
        var events = resizes
        resizes.removeAll()
        var event = SDL_Event()
        while SDL_PollEvent(&event) != 0 {
            if event.type == SDL_RENDER_TARGETS_RESET.rawValue || event.type == SDL_RENDER_DEVICE_RESET.rawValue {
                for texture in textures.values { SDL_DestroyTexture(texture) }
                textures.removeAll()
                textureBytes = 0
                letters = (try? Letters(renderer)) ?? letters
            } else if let input = SDLInput.event(event, in: window) {
                events.append(input)
            }
        }
        return events
    }
}

extension SDL_Rect {
    fileprivate init(_ area: PixelRectangle) {
        self.init(x: Int32(area.x), y: Int32(area.y), w: Int32(area.width), h: Int32(area.height))
    }
}

extension SDL_FRect {
    fileprivate init(_ area: PixelRect) {
        self.init(x: Float(area.minX), y: Float(area.minY), w: Float(area.width), h: Float(area.height))
    }
}
