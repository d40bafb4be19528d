import TileCache

/// Draws names with a halo, each at one place of the level's plane. The size is the same at all levels.
struct LabelPainter {
    let settlements: Settlements

    /// Lattice of the regions, which have the widest names.
    private static let regionCells = 5
    /// Maximum distance of a name's pixels from its place, in pixels.
    private static let reach = 130.0

    private struct Style {
        let scale: Float
        let color: Color
        let spacing: Float
    }

    private static let styles = [
        Style(scale: 1.9, color: Palette.label, spacing: 0),
        Style(scale: 1.45, color: Palette.label, spacing: 0),
        Style(scale: 1.15, color: Color(0x55525A), spacing: 0),
    ]
    private static let regionStyle = Style(scale: 1.5, color: Palette.regionLabel, spacing: 4)

    func paint(on canvas: Canvas) {
        let frame = canvas.frame
        let margin = Self.reach * frame.worldPerPixel
        var shown: [Settlement] = []
        for rank in 0..<Settlements.cellsAcross.count {
            let cell = settlements.cell(rank: rank)
            guard cell / frame.worldPerPixel >= 100 else { continue }
            // Wider than a name, so that a tile has every name with precedence over one of its own.
            for place in settlements.window(rank: rank, frame: frame, margin: 3 * margin).all {
                guard !shown.contains(where: { $0.rank < rank && isNear($0, place, frame) }) else { continue }
                shown.append(place)
                write(
                    PlaceName.make(place.bits),
                    x: place.x,
                    y: place.y - 14 * frame.worldPerPixel,
                    Self.styles[rank],
                    canvas
                )
            }
        }
        paintRegions(margin, canvas, beside: shown)
    }

    private func paintRegions(_ margin: Double, _ canvas: Canvas, beside shown: [Settlement]) {
        let size = settlements.worldWidth / Double(Self.regionCells)
        guard 100...1100 ~= size / canvas.frame.worldPerPixel else { return }
        let cells = canvas.frame.cells(ofSize: size, margin: margin)
        for row in cells.rows {
            for column in cells.columns {
                let wrapped = (column % Self.regionCells + Self.regionCells) % Self.regionCells
                var random = SplitMix64(
                    seed: settlements.seed ^ 0xE0 ^ UInt64(wrapped) << 32 ^ UInt64(truncatingIfNeeded: row)
                )
                let bits = random.next()
                let x = (Double(column) + random.next(from: 0.3, to: 0.7)) * size
                let y = (Double(row) + random.next(from: 0.3, to: 0.7)) * size
                let home = x + Double(wrapped - column) * size
                guard settlements.terrain.elevation(x: home, y: y) > 0.05,
                    !shown.contains(where: { isWritten(over: $0, x, y, canvas.frame) })
                else { continue }
                write(PlaceName.make(bits).uppercased(), x: x, y: y, Self.regionStyle, canvas)
            }
        }
    }

    /// Whether two names would overlap.
    private func isNear(_ a: Settlement, _ b: Settlement, _ frame: TileFrame) -> Bool {
        (a.x - b.x).magnitude < 135 * frame.worldPerPixel && (a.y - b.y).magnitude < 26 * frame.worldPerPixel
    }

    /// Whether the name of a region, the wider one, would overlap that of a settlement.
    private func isWritten(over place: Settlement, _ x: Double, _ y: Double, _ frame: TileFrame) -> Bool {
        (place.x - x).magnitude < 150 * frame.worldPerPixel
            && (place.y - 14 * frame.worldPerPixel - y).magnitude < 24 * frame.worldPerPixel
    }

    private func write(_ name: String, x: Double, y: Double, _ style: Style, _ canvas: Canvas) {
        let frame = canvas.frame
        let centerX = Int((x / frame.worldPerPixel).rounded())
        let centerY = Int((y / frame.worldPerPixel).rounded())
        let reach = Int(Self.reach)
        guard centerX + reach > frame.left, centerX - reach < frame.left + frame.size,
            centerY + 20 > frame.top, centerY - 20 < frame.top + frame.size
        else { return }
        let text = TextMask(name, scale: style.scale, spacing: style.spacing)
        let (left, top) = (centerX - text.width / 2, centerY - text.height / 2)
        let columns = (left..<left + text.width).clamped(to: frame.left..<frame.left + frame.size)
        let rows = (top..<top + text.height).clamped(to: frame.top..<frame.top + frame.size)
        for row in rows {
            for column in columns {
                let (ink, halo) = text[column - left, row - top]
                canvas.blend(column, row, Palette.halo, halo * 0.85)
                canvas.blend(column, row, style.color, ink)
            }
        }
    }
}

/// Coverage of a name: the ink of each pixel, and the halo around the ink.
private struct TextMask {
    let width: Int
    let height: Int
    private var ink: [Float]
    private var halo: [Float]

    private static let margin = 3

    init(_ text: String, scale: Float, spacing: Float) {
        let letters = Array(text.utf8).map(GlyphFont.rows(of:))
        let advance = Float(GlyphFont.advance) + spacing / scale
        width = Int((Float(letters.count) * advance * scale).rounded(.up)) + 2 * Self.margin
        height = Int((Float(GlyphFont.rows) * scale).rounded(.up)) + 2 * Self.margin
        ink = [Float](repeating: 0, count: width * height)
        halo = ink
        for y in 0..<height {
            let v = (Float(y - Self.margin) + 0.5) / scale - 0.5
            for x in 0..<width {
                let position = (Float(x - Self.margin) + 0.5) / scale
                let index = Int((position / advance).rounded(.down))
                guard letters.indices.contains(index), position >= 0 else { continue }
                let u = position - Float(index) * advance - 0.5
                // The bitmap, softened between its dots and sharpened again: round strokes instead of stairs.
                let soft = Self.soft(letters[index], u, v)
                ink[y * width + x] = min(max((soft - 0.5) * scale * 0.9 + 0.5, 0), 1)
            }
        }
        widen()
    }

    subscript(x: Int, y: Int) -> (ink: Float, halo: Float) { (ink[y * width + x], halo[y * width + x]) }

    /// The halo is the ink, two pixels wider on each side. It fades over the second.
    private mutating func widen() {
        for y in 0..<height {
            for x in 0..<width where ink[y * width + x] > 0 {
                for dy in max(-2, -y)...min(2, height - 1 - y) {
                    for dx in max(-2, -x)...min(2, width - 1 - x) {
                        let weight: Float = dx * dx + dy * dy <= 2 ? 1 : dx * dx + dy * dy <= 5 ? 0.5 : 0
                        let index = (y + dy) * width + x + dx
                        halo[index] = max(halo[index], ink[y * width + x] * weight)
                    }
                }
            }
        }
    }

    private static func soft(_ rows: [UInt8], _ u: Float, _ v: Float) -> Float {
        let (column, row) = (u.rounded(.down), v.rounded(.down))
        let (inU, inV) = (u - column, v - row)
        let (c, r) = (Int(column), Int(row))
        let upper = dot(rows, c, r) * (1 - inU) + dot(rows, c + 1, r) * inU
        let lower = dot(rows, c, r + 1) * (1 - inU) + dot(rows, c + 1, r + 1) * inU
        return upper * (1 - inV) + lower * inV
    }

    private static func dot(_ rows: [UInt8], _ column: Int, _ row: Int) -> Float {
        guard 0..<5 ~= column, rows.indices.contains(row) else { return 0 }
        return Float((rows[row] >> (4 - UInt8(column))) & 1)
    }
}
