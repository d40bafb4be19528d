import CSDL2
import TileCache
import ViewerKit

/// Draws with SDL, without texture slots: each tile on screen has a texture of its own.
final class SoftwarePainter: Painter {
    private let renderer: OpaquePointer
    private var textures: [TileIdentity: OpaquePointer] = [:]
    /// `nil` only while the window closes.
    private var letters: Letters?
    /// Bytes of the tiles' textures, and their peak.
    private var textureBytes = 0
    private(set) var peakTextureBytes = 0
    let isPaced = false
    let isFull = false
    let usesProcessor = true
    let textureText: TextureText? = nil
    /// Whether tiles have alpha.
    private let blends: Bool

    init(_ window: OpaquePointer, blends: Bool) throws {
        self.blends = blends
        guard let renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue) else {
            throw Window.failure("nothing can draw into the window")
        }
        self.renderer = renderer
        letters = try Letters(renderer)
        SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND)
    }

    deinit {
        letters = nil
        for texture in textures.values { SDL_DestroyTexture(texture) }
        SDL_DestroyRenderer(renderer)
    }

    func loseTextures() {
        for texture in textures.values { SDL_DestroyTexture(texture) }
        textures.removeAll()
        textureBytes = 0
        letters = (try? Letters(renderer)) ?? letters
    }

    func draw(_ panes: [PaneFrame]) {
        SDL_SetRenderDrawColor(renderer, 0x20, 0x24, 0x28, 255)
        SDL_RenderClear(renderer)
        if let pane = panes.first { draw(pane.frame, pane.viewport) }
    }

    private func draw(_ frame: TileFrame, _ viewport: TileViewport) {
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

    func draw(_ shapes: [Shape], pixelsPerPoint: Double) {
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

    func readPixels() throws -> (width: Int, height: Int, rgba: [UInt8]) {
        var (width, height): (Int32, Int32) = (0, 0)
        SDL_GetRendererOutputSize(renderer, &width, &height)
        guard width > 0, height > 0 else { throw Window.failure("the window has no size") }
        var pixels = [UInt8](repeating: 0, count: Int(width) * Int(height) * 4)
        let status = pixels.withUnsafeMutableBytes {
            SDL_RenderReadPixels(renderer, nil, UInt32(SDL_PIXELFORMAT_RGBA32.rawValue), $0.baseAddress, width * 4)
        }
        guard status == 0 else { throw Window.failure("the window cannot be read") }
        return (Int(width), Int(height), pixels)
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
