/// Checks that the window is visible.
public enum Display {
    /// SDL drivers that draw into memory. SDL falls back to one of them if it finds no display.
    private static let invisible: Set<String> = ["dummy", "offscreen"]

    /// Refuses a driver that draws into memory, unless it was requested.
    ///
    /// - Parameters:
    ///   - driver: The driver that SDL has chosen.
    ///   - requested: The value of `SDL_VIDEODRIVER`: names separated by commas. Default: none.
    /// - Throws: ``ViewerError`` with the variables that choose a display.
    public static func check(driver: String, requested: String?) throws(ViewerError) {
        let names = requested?.split(separator: ",").map(String.init) ?? []
        guard invisible.contains(driver), !names.contains(driver) else { return }
        throw ViewerError(
            "no display was found; DISPLAY or WAYLAND_DISPLAY was expected to name one, or SDL_VIDEODRIVER=dummy to draw without"
        )
    }
}
