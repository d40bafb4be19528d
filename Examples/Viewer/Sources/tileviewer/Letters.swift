import CFontconfig
import CSDL2
import ViewerKit

/// Letters of the system's monospaced font in one row, in cells of ``Shape/letterWidth``.
final class LetterPicture {
    let surface: UnsafeMutablePointer<SDL_Surface>
    let cells: ShapeMesh.LetterCells

    /// Finds the font, draws its letters once and closes the font.
    ///
    /// - Parameter factor: Pixels for each point. Default: 1.
    init(pixelsPerPoint factor: Double = 1) throws {
        guard TTF_Init() == 0 else { throw Window.failure("no fonts can be drawn") }
        defer { TTF_Quit() }
        let path = try Self.fontPath()
        let width = Int32((Shape.letterWidth * factor).rounded())
        let height = Int32((Shape.lineHeight * factor).rounded())
        guard let font = Self.open(path, width: width, height: height) else {
            throw Window.failure("\(path): a font that fits was expected")
        }
        defer { TTF_CloseFont(font) }
        cells = ShapeMesh.LetterCells(width: Int(width), height: Int(TTF_FontHeight(font)))
        let white = SDL_Color(r: 255, g: 255, b: 255, a: 255)
        let format = UInt32(SDL_PIXELFORMAT_RGBA32.rawValue)
        let codes = ShapeMesh.LetterCells.codes
        let columns = width * Int32(codes.count)
        guard let surface = SDL_CreateRGBSurfaceWithFormat(0, columns, Int32(cells.height), 32, format) else {
            throw Window.failure("no memory for letters")
        }
        self.surface = surface
        for code in codes {
            guard let letter = TTF_RenderUTF8_Blended(font, String(UnicodeScalar(code)), white) else { continue }
            SDL_SetSurfaceBlendMode(letter, SDL_BLENDMODE_NONE)
            var place = SDL_Rect(x: width * Int32(code - codes.lowerBound), y: 0, w: 0, h: 0)
            SDL_UpperBlit(letter, nil, surface, &place)
            SDL_FreeSurface(letter)
        }
    }

    deinit { SDL_FreeSurface(surface) }

    /// The largest font size whose letters fit their cells.
    private static func open(_ path: String, width: Int32, height: Int32) -> OpaquePointer? {
        for size in (6...max(width * 3, 6)).reversed() {
            guard let font = TTF_OpenFont(path, size) else { return nil }
            var advance: Int32 = 0
            TTF_GlyphMetrics(font, UInt16(UInt8(ascii: "M")), nil, nil, nil, nil, &advance)
            if advance <= width, TTF_FontHeight(font) <= height { return font }
            TTF_CloseFont(font)
        }
        return nil
    }

    /// Path of the font that fontconfig names for "monospace".
    private static func fontPath() throws -> String {
        defer { FcFini() }
        if let pattern = FcNameParse("monospace:scalable=true") {
            defer { FcPatternDestroy(pattern) }
            FcConfigSubstitute(nil, pattern, FcMatchPattern)
            FcDefaultSubstitute(pattern)
            var (result, file) = (FcResultMatch, UnsafeMutablePointer<FcChar8>?.none)
            if let match = FcFontMatch(nil, pattern, &result) {
                defer { FcPatternDestroy(match) }
                if FcPatternGetString(match, FC_FILE, 0, &file) == FcResultMatch, let file {
                    return String(cString: file)
                }
            }
        }
        throw ViewerError("no font: a monospaced one was expected, such as DejaVu Sans Mono (fonts-dejavu-core)")
    }
}

/// The letters as a texture of SDL.
final class Letters {
    private let renderer: OpaquePointer
    private let texture: OpaquePointer
    private let height: Int32
    private static let codes = ShapeMesh.LetterCells.codes
    private static let width = Int32(Shape.letterWidth)

    init(_ renderer: OpaquePointer) throws {
        let picture = try LetterPicture()
        guard let texture = SDL_CreateTextureFromSurface(renderer, picture.surface) else {
            throw Window.failure("no texture for letters")
        }
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND)
        (self.renderer, self.texture, height) = (renderer, texture, Int32(picture.cells.height))
    }

    deinit { SDL_DestroyTexture(texture) }

    /// Draws a line of text in a colour, with its upper left corner at (x, y).
    func draw(_ text: String, x: Double, y: Double, _ colour: Colour) {
        SDL_SetTextureColorMod(texture, colour.red, colour.green, colour.blue)
        SDL_SetTextureAlphaMod(texture, colour.alpha)
        var target = SDL_Rect(x: Int32(clamping: Int(x)), y: Int32(clamping: Int(y)), w: Self.width, h: height)
        for scalar in text.unicodeScalars {
            let code = UInt8(ascii: scalar.isASCII ? scalar : "?")
            let place = Int32(code) - Int32(Self.codes.lowerBound)
            var source = SDL_Rect(x: Self.width * place, y: 0, w: Self.width, h: height)
            if Self.codes.contains(code) { SDL_RenderCopy(renderer, texture, &source, &target) }
            target.x += Self.width
        }
    }
}
