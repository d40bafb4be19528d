import Testing
import TileCache
import TileScroll

@testable import ViewerKit

@Suite struct ScriptTests {
    @Test func eventsComeAtTheirTimes() throws {
        var script = try Script(
            text: """
                # A comment, and an empty line.

                0.5 down 10 20   # pressed
                0.5 up
                1 wheel -2 30 40
                2.25 screenshot a.png
                3 quit
                """
        )
        let parts = [499_999_999, 500_000_000, 2_000_000_000, Int64.max].map { script.take(until: $0).map(\.action) }
        let expected: [[Script.Action]] = [
            [],
            [.input(.buttonDown(at: .init(x: 10, y: 20), clicks: 1)), .input(.buttonUp)],
            [.input(.wheel(notches: -2, at: .init(x: 30, y: 40)))],
            [.command(.screenshot(path: "a.png")), .command(.quit)],
        ]
        #expect(parts == expected)
    }

    /// As editors on other systems write them. A comment ends with its line.
    @Test func linesMayEndWithCarriageReturns() throws {
        let text = "# A comment.\n0.5 down 10 20   # pressed\n\n0.75 up\n"
        let expected = try Script(text: text).entries
        #expect(expected.count == 2)
        #expect(try Script(text: text.replacing("\n", with: "\r\n")).entries == expected)
    }

    /// 20 ms at an event each 8 ms: two on the way and one at the end.
    @Test func dragsAreMadeOfMovements() throws {
        let script = try Script(text: "1 drag 100 0 200 50 0.02\n1.01 key o")
        func place(_ x: Double, _ y: Double) -> ScrollVector { ScrollVector(x: x, y: y) }
        let expected: [(Int64, InputEvent)] = [
            (1_000_000_000, .buttonDown(at: place(100, 0), clicks: 1)),
            (1_008_000_000, .pointerMoved(to: place(140, 20))),
            (1_010_000_000, .keyDown(.o)),
            (1_010_000_000, .keyUp(.o)),
            (1_016_000_000, .pointerMoved(to: place(180, 40))),
            (1_020_000_000, .pointerMoved(to: place(200, 50))),
            (1_020_000_000, .buttonUp),
        ]
        #expect(script.entries.map(\.time) == expected.map(\.0))
        #expect(script.entries.map(\.action) == expected.map { .input($0.1) })
    }

    @Test func pinchesMoveTwoFingers() throws {
        let script = try Script(text: "0 pinch 100 100 40 160 0.016")
        let moves = script.entries.compactMap { entry -> ScrollVector? in
            guard case .input(.fingerMoved(id: 1, to: let place)) = entry.action else { return nil }
            return place
        }
        // Halfway in octaves from 40 to 160 is 80.
        #expect(moves.map(\.x) == [140, 180])
        #expect(script.entries.count == 2 + 4 + 2)
    }

    @Test(arguments: [
        ("x down 1 2", "line 1: seconds"),
        ("-1 up", "line 1: seconds"),
        ("\n2 up\n1 up", "line 3: a time of 2.0 s or later"),
        ("1", "line 1: an event"),
        ("1 dance", "line 1: one of doubleclick, down,"),
        ("1 down 1", "'down X Y' was expected, with 2 arguments, not 1"),
        ("1 down 1 many", "a number from -1000000.0 to 1000000.0 for Y, not 'many'"),
        ("1 down 1 nan", "for Y, not 'nan'"),
        ("1 drag 0 0 1 1 -2", "from 0.0 to 3600.0 for SECONDS, not '-2'"),
        ("1 key escape", "one of the keys left, right"),
    ]) func badLinesAreNamed(text: String, message: String) {
        #expect {
            try Script(text: text, name: "tour")
        } throws: { error in
            "\(error)".hasPrefix("tour, line ") && "\(error)".contains(message)
        }
    }
}
