import Foundation
import TileCache
import TileScroll

/// Scripted input: a text file of timed events, which drives a session without a user.
///
/// Each line has a time in seconds from the start, at least that of the line before, and one event. Empty lines and
/// text after `#` are ignored.
/// ```
/// 0.5 down 640 360              # the mouse button, at a place of the window; also: move X Y, up
/// 1.0 drag 900 360 300 360 0.25 # pressed, moved in 0.25 seconds, released while moving
/// 2.0 wheel -2 640 360          # notches, at a place
/// 3.0 pinch 640 360 100 400 0.5 # two fingers about a place, from and to a distance, in 0.5 seconds
/// 4.0 doubleclick 640 360
/// 5.0 key plus                  # pressed and released; also: press KEY, release KEY
/// 6.0 resize 1024 640
/// 7.0 screenshot picture.png
/// 8.0 quit
/// ```
public struct Script: Hashable, Sendable {
    /// Action of a script.
    public enum Action: Hashable, Sendable {
        /// Input of a user.
        case input(InputEvent)
        /// Command to the viewer.
        case command(ViewerCommand)
    }

    /// Action and its time, in nanoseconds from the start.
    public struct Entry: Hashable, Sendable {
        /// Nanoseconds from the start.
        public var time: Int64
        /// The action.
        public var action: Action
    }

    /// Events, sorted by time.
    public private(set) var entries: [Entry] = []

    /// Interval of events within one movement, as of a fast mouse.
    private static let step: Int64 = 8_000_000

    /// Parses a script.
    ///
    /// - Parameters:
    ///   - text: Contents of the script.
    ///   - name: Name of the script for messages.
    /// - Throws: ``ViewerError`` with the line number.
    public init(text: String, name: String = "script") throws(ViewerError) {
        var latest: Int64 = 0
        // Not by the character "\n": a line feed after a carriage return is one character with it.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let content = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
            let words = content.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let first = words.first else { continue }
            let place = "\(name), line \(index + 1)"
            guard let time = Self.nanoseconds(first) else {
                throw ViewerError("\(place): seconds from 0 to 86400 were expected, not '\(first)'")
            }
            guard time >= latest else {
                throw ViewerError("\(place): a time of \(Double(latest) / 1e9) s or later was expected, not \(first)")
            }
            latest = time
            try append(Array(words.dropFirst()), at: time, place)
        }
        // Movements take time, and others may begin during one.
        entries = entries.enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    private static func nanoseconds(_ text: String) -> Int64? {
        guard let seconds = Double(text), seconds >= 0, seconds <= 86_400 else { return nil }
        return Int64((seconds * 1e9).rounded())
    }

    private mutating func append(_ words: [String], at time: Int64, _ place: String) throws(ViewerError) {
        guard let verb = words.first else { throw ViewerError("\(place): an event was expected after the time") }
        guard let form = Self.forms[verb] else {
            let known = Self.forms.keys.sorted().joined(separator: ", ")
            throw ViewerError("\(place): one of \(known) was expected, not '\(verb)'")
        }
        let arguments = Array(words.dropFirst())
        let usage = ([verb] + form).joined(separator: " ")
        guard arguments.count == form.count else {
            throw ViewerError("\(place): '\(usage)' was expected, with \(form.count) arguments, not \(arguments.count)")
        }
        var numbers: [Double] = []
        for (name, argument) in zip(form, arguments) where name != "KEY" && name != "FILE" {
            let bounds = name == "SECONDS" ? 0.0...3600.0 : -1e6...1e6
            guard let number = Double(argument), bounds.contains(number) else {
                throw ViewerError(
                    "\(place): '\(usage)' was expected, with a number from \(bounds.lowerBound) to "
                        + "\(bounds.upperBound) for \(name), not '\(argument)'"
                )
            }
            numbers.append(number)
        }
        if form == ["KEY"] {
            guard let key = InputEvent.Key(rawValue: arguments[0]) else {
                let known = InputEvent.Key.allCases.map(\.rawValue).joined(separator: ", ")
                throw ViewerError("\(place): one of the keys \(known) was expected, not '\(arguments[0])'")
            }
            if verb != "release" { add(.keyDown(key), time) }
            if verb != "press" { add(.keyUp(key), time) }
        } else if verb == "screenshot" {
            entries.append(Entry(time: time, action: .command(.screenshot(path: arguments[0]))))
        } else {
            add(verb, numbers, time)
        }
    }

    /// Arguments of each event.
    private static let forms: [String: [String]] = [
        "down": ["X", "Y"], "move": ["X", "Y"], "up": [], "wheel": ["NOTCHES", "X", "Y"],
        "drag": ["FROM-X", "FROM-Y", "TO-X", "TO-Y", "SECONDS"],
        "pinch": ["X", "Y", "FROM", "TO", "SECONDS"], "doubleclick": ["X", "Y"],
        "key": ["KEY"], "press": ["KEY"], "release": ["KEY"], "resize": ["WIDTH", "HEIGHT"],
        "screenshot": ["FILE"], "quit": [],
    ]

    private mutating func add(_ event: InputEvent, _ time: Int64) {
        entries.append(Entry(time: time, action: .input(event)))
    }

    private mutating func add(_ verb: String, _ numbers: [Double], _ time: Int64) {
        func vector(_ index: Int) -> ScrollVector { ScrollVector(x: numbers[index], y: numbers[index + 1]) }
        switch verb {
        case "down": add(.buttonDown(at: vector(0), clicks: 1), time)
        case "move": add(.pointerMoved(to: vector(0)), time)
        case "up": add(.buttonUp, time)
        case "wheel": add(.wheel(notches: numbers[0], at: vector(1)), time)
        case "doubleclick":
            add(.buttonDown(at: vector(0), clicks: 2), time)
            add(.buttonUp, time)
        case "resize": add(.resized(ScrollSize(width: numbers[0], height: numbers[1])), time)
        case "quit": entries.append(Entry(time: time, action: .command(.quit)))
        case "drag":
            add(.buttonDown(at: vector(0), clicks: 1), time)
            let end = move(time, seconds: numbers[4]) { part in
                [.pointerMoved(to: vector(0) + (vector(2) - vector(0)) * part)]
            }
            add(.buttonUp, end)
        default: pinch(about: vector(0), from: numbers[2], to: numbers[3], seconds: numbers[4], time)
        }
    }

    private mutating func pinch(
        about place: ScrollVector,
        from: Double,
        to: Double,
        seconds: Double,
        _ time: Int64
    ) {
        // Steps are even in octaves, as in a real pinch.
        func fingers(_ part: Double) -> [ScrollVector] {
            let ratio = max(to.magnitude, 1) / max(from.magnitude, 1)
            let half = ScrollVector(x: max(from.magnitude, 1) * pow(ratio, part) / 2, y: 0)
            return [place - half, place + half]
        }
        for (id, place) in fingers(0).enumerated() { add(.fingerDown(id: id, at: place), time) }
        let end = move(time, seconds: seconds) { part in
            fingers(part).enumerated().map { .fingerMoved(id: $0.offset, to: $0.element) }
        }
        for id in 0...1 { add(.fingerUp(id: id), end) }
    }

    /// Adds the intermediate events, after the start and up to the end.
    private mutating func move(_ time: Int64, seconds: Double, _ events: (Double) -> [InputEvent]) -> Int64 {
        let duration = Int64(seconds * 1e9)
        var elapsed = Self.step
        while elapsed < duration {
            for event in events(Double(elapsed) / Double(duration)) { add(event, time + elapsed) }
            elapsed += Self.step
        }
        for event in events(1) { add(event, time + duration) }
        return time + duration
    }

    /// Removes and returns the events up to a time.
    public mutating func take(until time: Int64) -> [Entry] {
        let count = entries.firstIndex { $0.time > time } ?? entries.count
        defer { entries.removeFirst(count) }
        return Array(entries[..<count])
    }
}
