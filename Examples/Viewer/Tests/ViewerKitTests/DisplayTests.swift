import Testing
import ViewerKit

/// Drivers that draw into memory.
@Suite struct DisplayTests {
    @Test(arguments: [("x11", nil), ("wayland", nil), ("dummy", "dummy"), ("offscreen", "x11,offscreen")])
    func whatIsSeenOrAskedForIsTaken(driver: String, requested: String?) {
        #expect(throws: Never.self) { try Display.check(driver: driver, requested: requested) }
    }

    @Test(arguments: [("offscreen", nil), ("dummy", nil), ("offscreen", "x11"), ("dummy", "dummyx"), ("offscreen", "")])
    func theRestIsRefused(driver: String, requested: String?) {
        #expect(throws: ViewerError.self) { try Display.check(driver: driver, requested: requested) }
    }
}
