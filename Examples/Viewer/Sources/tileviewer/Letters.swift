import CFontconfig
import CSDL2
import ViewerKit

/// Letters of the system's monospaced font in one texture, in cells of ``Shape/letterWidth``.
final class Letters {
    private let renderer: OpaquePointer
    private let texture: OpaquePointer
    private let height: Int32
    /// ASCII; other letters become question marks.
    private static let codes = UInt8(ascii: " ")...UInt8(ascii: "~")
    private static let width = Int32(Shape.letterWidth)

    /// Finds the font, draws its letters once and closes the font.
    init(_ renderer: OpaquePointer) throws {
        guard TTF_Init() == 0 else { throw Window.failure("no fonts can be drawn") }
        defer { TTF_Quit() }
        let path = try Self.fontPath()
        guard let font = Self.open(path) else { throw Window.failure("\(path): a font that fits was expected") }
        defer { TTF_CloseFont(font) }
        height = TTF_FontHeight(font)
        let white = SDL_Color(r: 255, g: 255, b: 255, a: 255)
        let format = UInt32(SDL_PIXELFORMAT_RGBA32.rawValue)
        let width = Self.width * Int32(Self.codes.count)
        guard let atlas = SDL_CreateRGBSurfaceWithFormat(0, width, height, 32, format) else {
            throw Window.failure("no memory for letters")
        }
        defer { SDL_FreeSurface(atlas) }
        for code in Self.codes {
            guard let letter = TTF_RenderUTF8_Blended(font, String(UnicodeScalar(code)), white) else { continue }
            SDL_SetSurfaceBlendMode(letter, SDL_BLENDMODE_NONE)
            var place = SDL_Rect(x: Self.width * Int32(code - Self.codes.lowerBound), y: 0, w: 0, h: 0)
            SDL_UpperBlit(letter, nil, atlas, &place)
            SDL_FreeSurface(letter)
        }
        guard let texture = SDL_CreateTextureFromSurface(renderer, atlas) else {
            throw Window.failure("no texture for letters")
        }
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND)
        (self.renderer, self.texture) = (renderer, texture)
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

    /// The largest font size whose letters fit their cells.
    private static func open(_ path: String) -> OpaquePointer? {
        for size in (6...24).reversed() {
            guard let font = TTF_OpenFont(path, Int32(size)) else { return nil }
            var advance: Int32 = 0
            TTF_GlyphMetrics(font, UInt16(UInt8(ascii: "M")), nil, nil, nil, nil, &advance)
            if advance <= width, TTF_FontHeight(font) <= Int32(Shape.lineHeight) { return font }
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
