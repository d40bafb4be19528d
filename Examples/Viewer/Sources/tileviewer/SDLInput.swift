import CSDL2
import TileCache
import TileScroll
import ViewerKit

/// Converts SDL's events to input events.
enum SDLInput {
    static func event(_ event: SDL_Event, in window: OpaquePointer) -> InputEvent? {
        switch SDL_EventType(rawValue: event.type) {
        case SDL_QUIT: return .closed
        case SDL_WINDOWEVENT:
            guard event.window.event == UInt8(SDL_WINDOWEVENT_SIZE_CHANGED.rawValue) else { return nil }
            return .resized(ScrollSize(width: Double(event.window.data1), height: Double(event.window.data2)))
        case SDL_KEYDOWN:
            guard event.key.repeat == 0 else { return nil }
            return key(event.key.keysym).map { .keyDown($0) }
        case SDL_KEYUP: return key(event.key.keysym).map { .keyUp($0) }
        default: return pointer(event, in: window)
        }
    }

    private static func pointer(_ event: SDL_Event, in window: OpaquePointer) -> InputEvent? {
        // Mouse events that SDL synthesises from touches are handled as touches.
        let touch = UInt32.max
        switch SDL_EventType(rawValue: event.type) {
        case SDL_MOUSEBUTTONDOWN:
            guard event.button.which != touch, event.button.button == UInt8(SDL_BUTTON_LEFT) else { return nil }
            return .buttonDown(at: place(event.button.x, event.button.y), clicks: Int(event.button.clicks))
        case SDL_MOUSEBUTTONUP:
            guard event.button.which != touch, event.button.button == UInt8(SDL_BUTTON_LEFT) else { return nil }
            return .buttonUp
        case SDL_MOUSEMOTION:
            return event.motion.which == touch ? nil : .pointerMoved(to: place(event.motion.x, event.motion.y))
        case SDL_MOUSEWHEEL:
            let notches = Double(event.wheel.preciseY)
            let sign = event.wheel.direction == SDL_MOUSEWHEEL_FLIPPED.rawValue ? -1.0 : 1
            return .wheel(notches: notches * sign, at: place(event.wheel.mouseX, event.wheel.mouseY))
        case SDL_FINGERDOWN:
            return isScreen(event.tfinger.touchId)
                ? .fingerDown(id: Int(event.tfinger.fingerId), at: place(event.tfinger, in: window)) : nil
        case SDL_FINGERMOTION:
            return isScreen(event.tfinger.touchId)
                ? .fingerMoved(id: Int(event.tfinger.fingerId), to: place(event.tfinger, in: window)) : nil
        case SDL_FINGERUP:
            return isScreen(event.tfinger.touchId) ? .fingerUp(id: Int(event.tfinger.fingerId)) : nil
        case SDL_MULTIGESTURE:
            // Touch screens report the fingers themselves.
            guard !isScreen(event.mgesture.touchId) else { return nil }
            var (x, y): (Int32, Int32) = (0, 0)
            SDL_GetMouseState(&x, &y)
            return .magnified(by: 1 + 2 * Double(event.mgesture.dDist), at: place(x, y))
        default: return nil
        }
    }

    private static func isScreen(_ touch: SDL_TouchID) -> Bool {
        SDL_GetTouchDeviceType(touch) == SDL_TOUCH_DEVICE_DIRECT
    }

    private static func place(_ x: Int32, _ y: Int32) -> ScrollVector { ScrollVector(x: Double(x), y: Double(y)) }

    private static func place(_ finger: SDL_TouchFingerEvent, in window: OpaquePointer) -> ScrollVector {
        var (width, height): (Int32, Int32) = (0, 0)
        SDL_GetWindowSize(window, &width, &height)
        return ScrollVector(x: Double(finger.x) * Double(width), y: Double(finger.y) * Double(height))
    }

    private static func key(_ symbol: SDL_Keysym) -> InputEvent.Key? {
        switch SDL_KeyCode(rawValue: UInt32(bitPattern: symbol.sym)) {
        case SDLK_LEFT: .left
        case SDLK_RIGHT: .right
        case SDLK_UP: .up
        case SDLK_DOWN: .down
        case SDLK_PLUS, SDLK_EQUALS, SDLK_KP_PLUS: .plus
        case SDLK_MINUS, SDLK_KP_MINUS: .minus
        case SDLK_0, SDLK_KP_0: .zero
        case SDLK_HOME: .home
        case SDLK_o: .o
        case SDLK_LEFTBRACKET: .less
        case SDLK_RIGHTBRACKET: .more
        case SDLK_PERIOD: .clockwise
        case SDLK_COMMA: .anticlockwise
        case SDLK_p: .p
        case SDLK_q, SDLK_ESCAPE: .q
        default: nil
        }
    }
}
