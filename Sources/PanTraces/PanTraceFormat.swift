import TileCache

/// Formats a pan trace, version 1, as text.
///
/// Every number has enough digits to read the same bits back, independent of locale: a replay makes the same demands as
/// the recorded view.
package enum PanTraceFormat {
    /// Version that is written, and the only one that can be read.
    package static let version = 1
    /// The line that names the columns of a trace without rotation.
    package static let columns = "time_s,center_x,center_y,scale"
    /// The line that names the columns of a trace with rotation.
    package static let columnsWithRotation = "time_s,center_x,center_y,scale,rotation"

    /// Header lines and the line of column names, each with its line feed.
    package static func headerText(_ header: PanTraceHeader, includesRotation: Bool) -> String {
        var text = "# pan-trace: \(version)\n"
        if let viewport = header.viewport { text += "# viewport: \(sizeText(viewport))\n" }
        if let world = header.world { text += "# world: \(sizeText(world))\n" }
        text += "# wraps_x: \(header.wrapsX)\n"
        text += "# tile_size: \(header.tileSize)\n"
        if let viewName = header.viewName { text += "# view: \(oneLine(viewName))\n" }
        for entry in header.otherEntries { text += "# \(oneLine(entry.key)): \(oneLine(entry.value))\n" }
        return text + (includesRotation ? columnsWithRotation : columns) + "\n"
    }

    /// One line of a trace with its line feed.
    ///
    /// - Parameters:
    ///   - sample: The sample; its time must not be negative.
    ///   - includesRotation: Whether the trace has the column `rotation`.
    package static func line(_ sample: PanTraceSample, includesRotation: Bool) -> String {
        var text = secondsText(sample.time)
        text += ",\(numberText(sample.center.x)),\(numberText(sample.center.y)),\(numberText(sample.scale))"
        if includesRotation { text += ",\(numberText(sample.rotation))" }
        return text + "\n"
    }

    /// Seconds with four to nine decimals. Four as in existing traces, more if nanoseconds need them.
    static func secondsText(_ nanoseconds: Int64) -> String {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var fraction = String(rest)
        fraction = String(repeating: "0", count: max(0, 9 - fraction.utf8.count)) + fraction
        while fraction.utf8.count > 4, fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
        return "\(seconds).\(fraction)"
    }

    /// Shortest digits that read back as the same number; integers without their `.0`.
    static func numberText(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func sizeText(_ size: PanTraceHeader.Size) -> String {
        "\(numberText(size.width))x\(numberText(size.height))"
    }

    /// Replaces line breaks: they would start a line that readers must refuse.
    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}
