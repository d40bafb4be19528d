import Foundation
import PanTraces
import TileCache

/// Views of the earth on a web map of 256-pixel tiles whose finest zoom is 20.
enum GlobeView {
    static let finestZoom = 20.0
    /// Guessed where a file says no scale: streets.
    static let usualZoom = 15.0
    static let usualViewport = PanTraceHeader.Size(width: 1280, height: 720)
    static let side = 268_435_456.0

    static var header: PanTraceHeader {
        PanTraceHeader(viewport: usualViewport, world: .init(width: side, height: side), wrapsX: true)
    }

    /// A place in world pixels; `nil` beyond what a web map shows.
    static func center(longitude: Double, latitude: Double) -> WorldPoint? {
        guard longitude.magnitude <= 540, latitude.magnitude <= 85.06 else { return nil }
        let sine = sin(latitude * .pi / 180)
        let y = 0.5 - log((1 + sine) / (1 - sine)) / (4 * .pi)
        return WorldPoint(x: (longitude / 360 + 0.5) * side, y: y * side)
    }

    /// The scale at which a camera sees the ground from a distance in metres, with a field of view of 60 degrees from
    /// top to bottom, as Google Earth has.
    static func scale(distance: Double, latitude: Double) -> Double {
        let metres = 2 * distance * tan(.pi / 6)
        let metresPerPixel = 40_075_016.7 * cos(latitude * .pi / 180) / side
        return min(usualViewport.height * metresPerPixel / max(metres, 1e-3), 1)
    }
}

/// Times as files write them.
enum ImportedTime {
    /// Later times, after 2096, are taken for mistakes: differences of two have room in 64 bits of nanoseconds.
    private static let mostSeconds = 4e9

    /// Nanoseconds since 1970, or since the start of whatever clock the file has.
    ///
    /// - Parameter isMilliseconds: Whether plain numbers are milliseconds. Those above 10^11 always are: as seconds they
    ///   would be in the year 5138.
    static func nanoseconds(_ text: String, isMilliseconds: Bool = false) -> Int64? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard let number = Double(text) else { return date(text) }
        let seconds = isMilliseconds || number.magnitude > 1e11 ? number / 1000 : number
        return seconds.magnitude < mostSeconds ? Int64((seconds * 1e9).rounded()) : nil
    }

    /// A date of ISO 8601 with a zone, with or without fractions of a second.
    static func date(_ text: String) -> Int64? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        guard let seconds = try? style.parse(text).timeIntervalSince1970, seconds.magnitude < mostSeconds else {
            return nil
        }
        return Int64((seconds * 1000).rounded()) * 1_000_000
    }
}
