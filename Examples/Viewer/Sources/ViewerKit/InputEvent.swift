public import TileScroll

/// What the window system, or a script, says that a person has done. Places are in the window, in pixels from its upper
/// left corner.
public enum InputEvent: Hashable, Sendable {
    /// The mouse button goes down; `clicks` is 2 for the second of a double click.
    case buttonDown(at: ScrollVector, clicks: Int)
    /// The mouse has moved, button down or not.
    case pointerMoved(to: ScrollVector)
    /// The mouse button goes up.
    case buttonUp
    /// The wheel has turned, in notches; away from the hand is larger than 0.
    case wheel(notches: Double, at: ScrollVector)
    /// A finger touches the screen.
    case fingerDown(id: Int, at: ScrollVector)
    /// A finger moves on it.
    case fingerMoved(id: Int, to: ScrollVector)
    /// A finger leaves it.
    case fingerUp(id: Int)
    /// Two fingers on a trackpad have moved apart by this factor.
    case magnified(by: Double, at: ScrollVector)
    /// A key goes down; repeats of one that is held are left out.
    case keyDown(Key)
    /// A key goes up.
    case keyUp(Key)
    /// The window has another size.
    case resized(ScrollSize)
    /// The window is closed.
    case closed

    /// The keys that do something.
    public enum Key: String, Hashable, Sendable, CaseIterable {
        /// Moves the view; for as long as it is held.
        case left, right, up, down
        /// Doubles or halves the scale.
        case plus, minus
        /// One pixel of the world on one of the screen.
        case zero
        /// The whole world.
        case home
        /// The overlay, on and off.
        case o
        /// Half or twice the memory.
        case less, more
        /// A picture of the window.
        case p
        /// The end.
        case q
    }
}

/// What an event asks of the viewer itself, beside moving the view.
public enum ViewerCommand: Hashable, Sendable {
    /// Shows or hides the overlay.
    case toggleOverlay
    /// Multiplies the memory limit by 2 to this power.
    case scaleMemory(octaves: Int)
    /// Writes what is on screen into a file; `nil` lets the viewer choose a name.
    case screenshot(path: String?)
    /// Ends the program.
    case quit
}
