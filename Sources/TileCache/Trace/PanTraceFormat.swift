/// The text of a pan trace, version 1, as it is written.
///
/// Every number is written with the digits it takes to read the same bits back, and never by a rule of the machine's
/// language settings: a replay of what was written makes the demands that the view made.
public enum PanTraceFormat {
    /// The version that is written, and the only one that is read.
    public static let version = 1
    /// The line that names the columns of a trace without rotation.
    public static let columns = "time_s,center_x,center_y,scale"
    /// The line that names the columns of a trace with rotation.
    public static let columnsWithRotation = "time_s,center_x,center_y,scale,rotation"

    /// The header lines and the line of column names, each with its line feed.
    public static func headerText(_ header: PanTraceHeader, includesRotation: Bool) -> String {
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
    ///   - sample: what to write; its time must not be negative.
    ///   - includesRotation: whether the trace has the column `rotation`.
    public static func line(_ sample: PanTraceSample, includesRotation: Bool) -> String {
        var text = secondsText(sample.time)
        text += ",\(numberText(sample.center.x)),\(numberText(sample.center.y)),\(numberText(sample.scale))"
        if includesRotation { text += ",\(numberText(sample.rotation))" }
        return text + "\n"
    }

    /// Seconds with four to nine decimals: four, because that is how traces look, more where nanoseconds need them.
    static func secondsText(_ nanoseconds: Int64) -> String {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var fraction = String(rest)
        fraction = String(repeating: "0", count: max(0, 9 - fraction.utf8.count)) + fraction
        while fraction.utf8.count > 4, fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
        return "\(seconds).\(fraction)"
    }

    /// The shortest digits that read back as the same number; whole numbers without their `.0`.
    static func numberText(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func sizeText(_ size: PanTraceHeader.Size) -> String {
        "\(numberText(size.width))x\(numberText(size.height))"
    }

    /// A line break inside a value would start a line of its own, which a reader has to refuse.
    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}
