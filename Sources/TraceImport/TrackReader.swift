import CTileExpat
import PanTraces
import TileCache

/// Reads the positions of GPX tracks and KML tours, element by element, in memory for its nesting and its names alone.
///
/// GPX: points of tracks with a time, as in KML those of `gx:Track`, in degrees. KML: `gx:FlyTo` of a tour, with its `LookAt` or `Camera`, and `gx:Wait`. A flight
/// becomes a straight line with ten positions a second, at most 600; heights above ground and tilts are left out.
final class TrackReader {
    private let parser: XML_Parser
    /// The position under way, and attributes and texts of its elements.
    private var values: [String: String] = [:]
    private var text: [UInt8] = []
    private var clock: Int64 = 0
    private var last: PanTraceSample?
    private(set) var refusal: String?
    /// Positions since they were last taken.
    private var found: [PanTraceSample] = []
    /// Points without a time, or with one that is no date with a zone.
    private(set) var withoutTime = 0
    private(set) var broken = 0

    /// Times of a `gx:Track` so far, and how many of them have a place; `nil` for one that is no date.
    private var whens: [Int64?] = []
    private var placed = 0
    private(set) var hasTrack = false

    /// Times of one track; more are broken.
    private static let mostWhens = 1_000_000
    /// Bytes of one element's text that are kept.
    private static let mostText = 65_536
    /// Positions of one flight.
    private static let mostSteps = 600
    /// Bytes of one tag or comment.
    private static let longestToken = 1 << 20
    /// A time that no tour has.
    private static let mostTime: Int64 = 4_000_000_000_000_000_000
    /// Bytes of the file so far, and where its last token began.
    private var (fed, reached) = (0, 0)
    /// Elements that are open, of at most so many.
    private var depth = 0
    private static let mostDepth = 1000

    init?() {
        guard let parser = XML_ParserCreate(nil) else { return nil }
        self.parser = parser
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { TrackReader.of($0)?.begin($1, $2) },
            { TrackReader.of($0)?.end($1) }
        )
        XML_SetCharacterDataHandler(parser) { context, text, count in
            guard let reader = TrackReader.of(context), let text, reader.text.count < TrackReader.mostText else {
                return
            }
            reader.text += UnsafeRawBufferPointer(start: text, count: Int(count))
        }
        // Entities could make much of little.
        XML_SetEntityDeclHandler(parser) { context, _, _, _, _, _, _, _, _ in
            TrackReader.of(context)?.stop("it declares an entity")
        }
        // Each element would have a copy of the declared default values.
        XML_SetAttlistDeclHandler(parser) { context, _, _, _, _, _ in
            TrackReader.of(context)?.stop("it declares an attribute")
        }
    }

    deinit { XML_ParserFree(parser) }

    /// Reads a piece of the file; an empty one is its end.
    ///
    /// - Returns: The positions that are complete, with increasing times in a KML tour.
    /// - Throws: ``ImportError`` with the line. Reading cannot go on; ``take()`` has the positions before.
    func read(_ bytes: UnsafeRawBufferPointer, name: String) throws -> [PanTraceSample] {
        let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        let status = XML_Parse(parser, text, Int32(clamping: bytes.count), bytes.isEmpty ? 1 : 0)
        guard status == XML_STATUS_OK else {
            let message = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "no XML"
            throw ImportError(name, "line \(XML_GetCurrentLineNumber(parser)): \(refusal ?? message)")
        }
        fed += bytes.count
        // -1 while a token is incomplete in some versions.
        reached = max(reached, Int(XML_GetCurrentByteIndex(parser)))
        guard fed - reached <= Self.longestToken else {
            throw ImportError(name, "line \(XML_GetCurrentLineNumber(parser)): it has a tag or comment above 1 MiB")
        }
        return take()
    }

    /// The positions that were not taken yet.
    func take() -> [PanTraceSample] {
        defer { found = [] }
        return found
    }

    private func stop(_ reason: String) {
        refusal = reason
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> TrackReader? {
        context.map { Unmanaged<TrackReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func begin(_ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?)
    {
        text = []
        depth += 1
        if depth > Self.mostDepth { stop("its elements are nested more than \(Self.mostDepth) deep") }
        guard let name, case let element = Self.localName(name) else { return }
        if element == "Track" { (whens, placed, hasTrack) = ([], 0, true) }
        guard ["trkpt", "FlyTo", "Wait"].contains(element) else { return }
        values = [:]
        // What KML says stands in elements.
        guard element == "trkpt" else { return }
        var index = 0
        while let key = attributes?[index], let value = attributes?[index + 1] {
            values[Self.localName(key)] = String(cString: value)
            index += 2
        }
    }

    private func end(_ name: UnsafePointer<XML_Char>?) {
        depth -= 1
        guard let name else { return }
        let element = Self.localName(name)
        switch element {
        case "trkpt": addPoint()
        case "FlyTo": addFlight()
        case "Wait": addWait()
        case "when" where hasTrack && whens.count < Self.mostWhens:
            whens.append(ImportedTime.date(String(decoding: text, as: UTF8.self)))
        case "coord" where hasTrack: addPlace()
        case "time", "duration", "longitude", "latitude", "range", "altitude", "heading":
            let trimmed = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            values[element] = trimmed.joined(separator: " ")
        default: break
        }
        text = []
    }

    private func addPoint() {
        guard let longitude = number("lon"), let latitude = number("lat"),
            let center = GlobeView.center(longitude: longitude, latitude: latitude)
        else { return broken += 1 }
        guard let time = values["time"].flatMap({ ImportedTime.date($0) }) else { return withoutTime += 1 }
        let scale = PortableMath.exp2(GlobeView.usualZoom - GlobeView.finestZoom)
        found.append(PanTraceSample(time: time, center: center, scale: scale))
    }

    /// Adds a place of a `gx:Track`, `longitude latitude height`, of which the first has the first time, and so on.
    private func addPlace() {
        let numbers = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).map { Double($0) }
        defer { placed += 1 }
        guard numbers.count >= 2, let longitude = numbers[0], let latitude = numbers[1], placed < whens.count,
            let center = GlobeView.center(longitude: longitude, latitude: latitude)
        else { return broken += 1 }
        guard let time = whens[placed] else { return withoutTime += 1 }
        let scale = PortableMath.exp2(GlobeView.usualZoom - GlobeView.finestZoom)
        found.append(PanTraceSample(time: time, center: center, scale: scale))
    }

    private func addFlight() {
        guard refusal == nil else { return }
        guard let longitude = number("longitude"), let latitude = number("latitude"),
            let distance = number("range") ?? number("altitude"),
            let center = GlobeView.center(longitude: longitude, latitude: latitude), 0...1e9 ~= distance
        else { return broken += 1 }
        var sample = PanTraceSample(
            time: 0,
            center: center,
            scale: GlobeView.scale(distance: distance, latitude: latitude),
            // Both are clockwise, from north.
            rotation: (number("heading") ?? 0) * .pi / 180
        )
        let duration = seconds("duration")
        if let last, duration > 0, clock < Self.mostTime {
            let steps = min(max(Int(duration / 100_000_000), 1), Self.mostSteps)
            for step in 1..<steps {
                let part = Double(step) / Double(steps)
                var between = last
                between.time = clock + duration / Int64(steps) * Int64(step)
                between.center.x += (sample.center.x - last.center.x) * part
                between.center.y += (sample.center.y - last.center.y) * part
                between.scale *= PortableMath.exp2(PortableMath.log2(sample.scale / last.scale) * part)
                let turn = sample.rotation - last.rotation
                between.rotation += (turn - (turn / (2 * .pi)).rounded() * 2 * .pi) * part
                found.append(between)
            }
        }
        // A flight without a duration is a jump.
        advance(last == nil ? 0 : max(duration, 1))
        sample.time = clock
        found.append(sample)
        last = sample
    }

    private func addWait() {
        advance(seconds("duration"))
        guard var rested = last, clock > rested.time else { return }
        rested.time = clock
        found.append(rested)
        last = rested
    }

    /// Adds to the clock, up to a time that no tour has.
    private func advance(_ nanoseconds: Int64) { clock = min(clock + nanoseconds, Self.mostTime) }

    private func number(_ key: String) -> Double? { values[key].flatMap { Double($0) } }

    /// Nanoseconds of a duration in seconds, at most a day.
    private func seconds(_ key: String) -> Int64 {
        guard let value = number(key), value > 0 else { return 0 }
        return Int64(min(value, 86_400) * 1e9)
    }

    /// A name without its prefix.
    private static func localName(_ name: UnsafePointer<XML_Char>) -> String {
        let text = String(cString: name)
        return text.lastIndex(of: ":").map { String(text[text.index(after: $0)...]) } ?? text
    }
}
