import TileCache
import ViewerKit

/// A frame of one pane of the window.
struct PaneFrame {
    let frame: TileFrame
    let view: TileView
    let viewport: TileViewport
    /// In pixels of the window.
    let area: PixelRectangle
}

/// Draws into a window.
protocol Painter: AnyObject {
    /// Whether `show` waits for the display.
    var isPaced: Bool { get }
    /// Whether the processor draws.
    var usesProcessor: Bool { get }
    /// Whether it draws turned views, and several panes.
    var isFull: Bool { get }
    /// Peak of the bytes of the tiles' textures.
    var peakTextureBytes: Int { get }
    /// Use of the first pane's texture slots; `nil` without slots.
    var textureText: TextureText? { get }

    /// - Throws: `ViewerError` if there is no memory for textures.
    func draw(_ panes: [PaneFrame]) throws
    func draw(_ shapes: [Shape], pixelsPerPoint: Double)
    /// Starts all painting that was only collected.
    func paint()
    func show()
    /// The picture drawn so far, before it is shown.
    func readPixels() throws -> (width: Int, height: Int, rgba: [UInt8])
    /// The contents of textures were lost.
    func loseTextures()
}
