import Foundation
import PanTraces
import TileCache

/// Columns of a table of positions by their names: CSV, or TSV as QuPath tracks its viewer.
///
/// | value | names |
/// | --- | --- |
/// | time in seconds, or as a date | `time`, `time_s`, `t`, `seconds`, `timestamp` |
/// | time in milliseconds | `time_ms`, `timestamp_ms`, `milliseconds`, `ms`, QuPath's `Timestamp` |
/// | centre in world pixels | `x`, `center_x`, `centre_x`, `cx`, and the same of `y` |
/// | left upper corner | `x`, `y`, if the table has `width` and `height` of what is seen |
/// | degrees | `lon`, `lng`, `longitude`, and `lat`, `latitude` |
/// | scale | `scale`; or `downsample`, `downsample factor`, its inverse; with degrees also `zoom` |
/// | rotation in radians | `rotation` |
/// | size of the view | `canvas width`, `viewport_width`, and the same of height |
struct TableColumns {
    private let separator: UInt8
    private let time: Int
    private let isMilliseconds: Bool
    private let x: Int
    private let y: Int
    private let isDegrees: Bool
    private let extent: (width: Int, height: Int)?
    private let scale: Int?
    private let inverseScale: Int?
    private let zoom: Int?
    private let rotation: Int?
    private let canvas: (width: Int, height: Int)?
    /// Whether the scale is not in the table.
    var isScaleGuessed: Bool { scale == nil && inverseScale == nil && zoom == nil }

    /// `nil` if the line names no time and no position.
    init?(_ line: some StringProtocol) {
        let bytes = Array(line.utf8)
        let separators = [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")]
        func count(_ byte: UInt8) -> Int { bytes.count { $0 == byte } }
        let separator = separators.max { one, other in count(one) < count(other) } ?? separators[0]
        let names = bytes.withUnsafeBytes { Self.fields($0, separator) }.map { name in
            name.lowercased().replacing("_", with: " ").trimmingCharacters(in: .whitespaces)
        }
        func column(_ known: String...) -> Int? { known.lazy.compactMap { names.firstIndex(of: $0) }.first }
        func columns(_ one: Int?, _ other: Int?) -> (Int, Int)? { one.flatMap { one in other.map { (one, $0) } } }
        let inverse = column("downsample factor", "downsample")
        let milliseconds = column("time ms", "timestamp ms", "milliseconds", "ms")
        guard let time = milliseconds ?? column("time", "time s", "t", "seconds", "timestamp") else { return nil }
        (self.separator, self.time) = (separator, time)
        // QuPath's table is known by its factor.
        let isTimestamp = names[time] == "timestamp"
        isMilliseconds = milliseconds != nil || (inverse != nil && isTimestamp)
        let plane = columns(column("center x", "centre x", "cx", "x"), column("center y", "centre y", "cy", "y"))
        let degrees = columns(column("lon", "lng", "longitude"), column("lat", "latitude"))
        guard let place = plane ?? degrees else { return nil }
        (x, y) = place
        isDegrees = plane == nil
        extent = names[x] == "x" ? columns(column("width"), column("height")) : nil
        scale = column("scale")
        inverseScale = inverse
        zoom = isDegrees ? column("zoom") : nil
        rotation = column("rotation")
        canvas = columns(column("canvas width", "viewport width"), column("canvas height", "viewport height"))
    }

    /// One position of a table.
    struct Row {
        var sample: PanTraceSample
        var canvas: PanTraceHeader.Size?
    }

    /// `nil` if a value is missing or is no number.
    func row(_ line: UnsafeRawBufferPointer) -> Row? {
        let fields = Self.fields(line, separator)
        func number(_ column: Int?, absent: Double? = nil) -> Double? {
            guard let column else { return absent }
            return column < fields.count ? Double(fields[column].trimmingCharacters(in: .whitespaces)) : nil
        }
        guard time < fields.count, let x = number(x), let y = number(y),
            let time = ImportedTime.nanoseconds(fields[time], isMilliseconds: isMilliseconds)
        else { return nil }
        var sample = PanTraceSample(time: time, center: WorldPoint(x: x, y: y), scale: 1)
        if isDegrees {
            guard let place = GlobeView.center(longitude: x, latitude: y) else { return nil }
            sample.center = place
            guard let zoom = number(zoom, absent: GlobeView.usualZoom), 0...30 ~= zoom else { return nil }
            sample.scale = PortableMath.exp2(zoom - GlobeView.finestZoom)
        }
        if let extent {
            guard let width = number(extent.width), let height = number(extent.height) else { return nil }
            sample.center = WorldPoint(x: x + width / 2, y: y + height / 2)
        }
        guard let factor = number(inverseScale, absent: 0), let rotation = number(rotation, absent: 0),
            let scale = number(scale, absent: inverseScale == nil ? sample.scale : 1 / factor)
        else { return nil }
        (sample.scale, sample.rotation) = (scale, rotation)
        let size = canvas.flatMap { canvas in
            number(canvas.width).flatMap { width in
                number(canvas.height).map { PanTraceHeader.Size(width: width, height: $0) }
            }
        }
        return Row(sample: sample, canvas: size.flatMap { $0.isViewport ? $0 : nil })
    }

    var header: PanTraceHeader {
        guard isDegrees else { return PanTraceHeader(viewport: GlobeView.usualViewport) }
        return GlobeView.header
    }

    /// Fields of a line. A field in quotes may hold separators, and quotes that are doubled.
    private static func fields(_ line: UnsafeRawBufferPointer, _ separator: UInt8) -> [String] {
        var fields: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        for byte in line {
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                fields.append(String(decoding: field, as: UTF8.self))
                field = []
            } else {
                field.append(byte)
            }
        }
        return fields + [String(decoding: field, as: UTF8.self)]
    }
}
