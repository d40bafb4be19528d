public import TileScroll

/// Input of the window system or of a script. Positions are in pixels from the window's upper left corner.
public enum InputEvent: Hashable, Sendable {
    /// Mouse button pressed; `clicks` is 2 for the second press of a double click.
    case buttonDown(at: ScrollVector, clicks: Int)
    /// Mouse moved, with or without a button.
    case pointerMoved(to: ScrollVector)
    /// Mouse button released.
    case buttonUp
    /// Wheel turned, in notches; positive away from the user.
    case wheel(notches: Double, at: ScrollVector)
    /// Finger touched the screen.
    case fingerDown(id: Int, at: ScrollVector)
    /// Finger moved.
    case fingerMoved(id: Int, to: ScrollVector)
    /// Finger lifted.
    case fingerUp(id: Int)
    /// Two fingers on a trackpad moved apart by this factor.
    case magnified(by: Double, at: ScrollVector)
    /// Key pressed, without repeats of a held key.
    case keyDown(Key)
    /// Key released.
    case keyUp(Key)
    /// Window resized.
    case resized(ScrollSize)
    /// Window closed.
    case closed

    /// Keys with a function.
    public enum Key: String, Hashable, Sendable, CaseIterable {
        /// Moves the view while it is held.
        case left, right, up, down
        /// Doubles or halves the scale.
        case plus, minus
        /// Shows one world pixel on one screen pixel.
        case zero
        /// Shows the whole world.
        case home
        /// Shows or hides the overlay.
        case o
        /// Halves or doubles the memory limit.
        case less, more
        /// Writes a screenshot.
        case p
        /// Quits.
        case q
    }
}

/// Effect of an event on the viewer itself, not on the view.
public enum ViewerCommand: Hashable, Sendable {
    /// Shows or hides the overlay.
    case toggleOverlay
    /// Multiplies the memory limit by 2 to this power.
    case scaleMemory(octaves: Int)
    /// Writes a screenshot to a file; `nil` lets the viewer choose the name.
    case screenshot(path: String?)
    /// Quits the program.
    case quit
}
