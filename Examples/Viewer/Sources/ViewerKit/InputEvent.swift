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
        /// Turns the view by 15 degrees.
        case clockwise, anticlockwise
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

extension InputEvent {
    /// The event in pixels of the screen, if the window system counts in larger points.
    public func scaled(by factor: Double) -> InputEvent {
        guard factor != 1 else { return self }
        return mapped { ScrollVector(x: $0.x * factor, y: $0.y * factor) }
    }

    /// The event with its position changed.
    func mapped(_ place: (ScrollVector) -> ScrollVector) -> InputEvent {
        switch self {
        case .buttonDown(let at, let clicks): .buttonDown(at: place(at), clicks: clicks)
        case .pointerMoved(let to): .pointerMoved(to: place(to))
        case .wheel(let notches, let at): .wheel(notches: notches, at: place(at))
        case .fingerDown(let id, let at): .fingerDown(id: id, at: place(at))
        case .fingerMoved(let id, let to): .fingerMoved(id: id, to: place(to))
        case .magnified(let factor, let at): .magnified(by: factor, at: place(at))
        case .buttonUp, .fingerUp, .keyDown, .keyUp, .resized, .closed: self
        }
    }
}
