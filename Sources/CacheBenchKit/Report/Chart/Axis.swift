import TileCache

/// Unit of an axis, which determines the spacing and format of its ticks.
enum AxisUnit {
    /// Fractions, in per cent.
    case share
    /// Bytes, in the unit that fits the largest value.
    case bytes
    case seconds
    case milliseconds
    case count
    /// Plain numbers with a word behind them.
    case plain
}

/// A scale from values to 0...1, with ticks.
struct Axis {
    let title: String
    let unit: AxisUnit
    let low: Double
    let high: Double
    let isLogarithmic: Bool
    let ticks: [Double]

    /// Creates an axis that begins at 0. It ends with a tick; one of seconds, or of all, at the largest value.
    init(title: String, unit: AxisUnit, upTo largest: Double, tickCount: Int = 5) {
        self.title = title
        self.unit = unit
        isLogarithmic = false
        low = 0
        var high = largest.isFinite && largest > 0 ? largest : 1
        let step = Self.step(for: high / Double(max(tickCount, 1)), unit: unit, largest: high)
        if unit != .seconds, unit != .share || high < 1 { high = (high / step).rounded(.up) * step }
        self.high = high
        ticks = (0...24).map { Double($0) * step }.filter { $0 <= high * (1 + 1e-9) }
    }

    init(logarithmic title: String, unit: AxisUnit, from smallest: Double, upTo largest: Double, base: Double = 10) {
        self.title = title
        self.unit = unit
        isLogarithmic = true
        let low = smallest.isFinite && smallest > 0 ? smallest : 1
        let high = largest.isFinite && largest > low ? largest : low * base
        var tick = 1.0
        while tick > low * (1 + 1e-9) { tick /= base }
        while tick * base <= low * (1 + 1e-9) { tick *= base }
        var ticks = [tick]
        while tick < high * (1 - 1e-9), ticks.count < 40 {
            tick *= base
            ticks.append(tick)
        }
        self.low = ticks[0]
        self.high = ticks[ticks.count - 1]
        let stride = max((ticks.count + 6) / 7, 1)
        self.ticks = ticks.enumerated().filter { $0.offset % stride == 0 }.map(\.element)
    }

    /// Position of a value, 0 at the low end and 1 at the high one. Clamped.
    func part(_ value: Double) -> Double {
        guard value.isFinite, high > low else { return 0 }
        let part: Double
        if isLogarithmic {
            part = PortableMath.log2(max(value, low) / low) / PortableMath.log2(high / low)
        } else {
            part = (value - low) / (high - low)
        }
        return min(max(part, 0), 1)
    }

    /// Text of a tick, without the unit if the title has it.
    func label(_ value: Double) -> String {
        switch unit {
        case .share:
            let places = places(100, atLeast: high - low < 0.004 ? 2 : high - low < 0.04 ? 1 : 0)
            return Figures.decimal(value * 100, places: places) + "%"
        case .bytes:
            if isLogarithmic { return Figures.roundBytes(value) }
            let scaled = byteUnit.scaled(value)
            return Figures.decimal(scaled, places: scaled == scaled.rounded() ? 0 : places(byteUnit.scaled(1)))
        case .seconds:
            return high >= 7200
                ? Figures.decimal(value / 3600, places: 1)
                : high >= 240
                    ? Figures.short(value / 60)
                    : Figures.decimal(value, places: places(atLeast: high < 5 ? 1 : 0))
        default: return Figures.decimal(value, places: places(atLeast: high - low < 4 && !isLogarithmic ? 1 : 0))
        }
    }

    /// Decimals that write each tick exactly, up to nine. With fewer, neighbours would have the same text.
    private func places(_ scale: Double = 1, atLeast least: Int = 0) -> Int {
        guard !isLogarithmic, ticks.count > 1 else { return least }
        var step = (ticks[1] - ticks[0]) * scale
        for _ in 0..<least { step *= 10 }
        var places = least
        while places < 9, abs(step - step.rounded()) > 1e-6 || step < 0.5 {
            step *= 10
            places += 1
        }
        return places
    }

    func precise(_ value: Double) -> String {
        switch unit {
        case .share: Figures.percent(value)
        case .bytes: Figures.bytes(Int(min(max(value, 0), 0x1p60)))
        case .seconds: Figures.seconds(value)
        case .milliseconds: Figures.milliseconds(value)
        case .count: Figures.count(Int(min(max(value, 0), 0x1p60).rounded()))
        case .plain: Figures.decimal(value, places: 3)
        }
    }

    var heading: String {
        switch unit {
        case .bytes where !isLogarithmic: "\(title), \(byteUnit.symbol)"
        case .seconds: "\(title), \(high >= 7200 ? "h" : high >= 240 ? "min" : "s")"
        case .milliseconds: "\(title), ms"
        default: title
        }
    }

    private var byteUnit: ByteUnit { ByteUnit.fitting(Int(min(high, 0x1p60))) }

    /// A round step near a given one: 1, 2, 5 times a power of ten. Powers of two for bytes, minutes for times.
    private static func step(for wanted: Double, unit: AxisUnit, largest: Double) -> Double {
        guard wanted > 0, wanted.isFinite else { return 1 }
        var base = 1.0
        var radix = 10.0
        var factors = [1.0, 2, 5]
        switch unit {
        case .bytes:
            (radix, factors) = (2, [1])
        case .seconds where largest >= 7200: base = 3600
        case .seconds where largest >= 240: base = 60
        default: break
        }
        var power = base
        while power > wanted { power /= radix }
        while power * radix <= wanted { power *= radix }
        return factors.map { $0 * power }.first { $0 >= wanted * 0.999 } ?? power * radix
    }
}

extension Figures {
    /// `4 KiB`, `1.5 MiB`: for ticks of a logarithmic axis.
    static func roundBytes(_ value: Double) -> String {
        let unit = ByteUnit.fitting(Int(min(max(value, 0), 0x1p60)))
        return short(unit.scaled(value)) + " " + unit.symbol
    }

    /// With one decimal, unless it is whole.
    static func short(_ value: Double) -> String { decimal(value, places: value == value.rounded() ? 0 : 1) }
}
