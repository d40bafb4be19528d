/// The answer of a replay: whether its limit and source do, and if not, which of them is to change first.
///
/// A function of the report's figures alone, equal under both clocks.
enum Verdict: Hashable {
    /// Enough of the area was drawn with exact tiles.
    case good
    /// Loads failed.
    case sourceFails
    /// One screen exceeds the limit.
    case noScreen
    /// A missing tile takes long to come.
    case sourceTooSlow
    /// Tiles were evicted, and there is little room beside those of one screen.
    case limitTooSmall
    /// Tiles come fast and have room, but were not loaded ahead.
    case notForeseen

    /// Least share of the area that is drawn with exact tiles, of frames that moved or lacked a tile.
    static let leastSharp = 0.95
    /// Maximum share of the area that is blank.
    static let mostBlank = 0.01
    /// Maximum share of loads that failed.
    static let mostFailed = 0.1
    /// Maximum wait for a missing tile in milliseconds, in the middle.
    static let longestWait = 500.0
    /// Screens that a limit should hold, as the guide for a first limit says.
    static let roomyScreens = 4

    /// - Returns: `nil` if nothing failed or lacked room, and there were no demands to judge by.
    init?(_ report: ReplayReport) {
        let (coverage, memory, loads) = (report.coverage, report.memory, report.loads)
        let isShort = memory.byteLimit / Self.roomyScreens < memory.screenBytes
        if Double(loads.failed) > Self.mostFailed * Double(loads.started) || Self.failsWholly(report) {
            self = .sourceFails
        } else if memory.shortfallBytes > 0 {
            self = .noScreen
        } else if report.demands.total == 0 {
            return nil
        } else if coverage.sharp ?? 1 >= Self.leastSharp, coverage.blank ?? 0 <= Self.mostBlank {
            self = .good
        } else if let wait = report.timeToSharp.p50, wait > Self.longestWait {
            self = .sourceTooSlow
        } else if isShort, report.evictions["capacity", default: 0] > 0 {
            self = .limitTooSmall
        } else {
            self = .notForeseen
        }
    }

    /// Whether nothing but failures came of a source. Loads that are put off until its server answers have no end.
    private static func failsWholly(_ report: ReplayReport) -> Bool {
        report.loads.finished == 0 && report.loads.absent == 0 && report.tileSource?.failures.isEmpty == false
    }

    /// The verdict and its reason, for example `source too slow: 62.0 % of the area was sharp, ...`.
    func text(_ report: ReplayReport) -> String {
        let (coverage, memory, loads) = (report.coverage, report.memory, report.loads)
        let seen = "\(percent: coverage.sharp) of the area was sharp, \(percent: coverage.blank) blank"
        switch self {
        case .good: return "good: \(seen)"
        case .sourceFails:
            let last = report.tileSource?.lastFailure.map { "; the last: \($0.printable)" } ?? ""
            if Self.failsWholly(report) {
                return "source fails: none of \(count: loads.started) loads has brought a tile" + last
            }
            return "source fails: \(count: loads.failed) of \(count: loads.started) loads brought an error" + last
        case .noScreen: return LimitWarning.text(memory) ?? "limit too small"
        case .sourceTooSlow:
            return "source too slow: \(seen); half of the missing tiles came after "
                + "\(milliseconds: report.timeToSharp.p50) or more"
        case .limitTooSmall:
            let tenths = 10 * Double(memory.byteLimit) / Double(max(memory.screenBytes, 1))
            // Less than four are not 4.0.
            let screens = tenths.rounded(.down) / 10
            return "limit too small: \(seen); the limit holds \(Figures.decimal(screens)) screens, and "
                + "\(Self.roomyScreens) leave room for tiles ahead"
        case .notForeseen:
            let (late, total) = (report.demands.late + report.demands.missed, report.demands.total)
            // The tiles of the first frame are no demands.
            if late == 0, report.demands.drawableHits == total {
                return "tiles come late: \(seen); only the first screen came late, no demand after it. What helps is a "
                    + "disk store; a longer replay shows the rest"
            }
            // A few are not 0.0 %.
            let share = late * 1000 < total ? "\(count: late) of \(count: total)" : "\(percent: late, of: total) of"
            return
                "tiles come late: \(seen); \(share) demands were no hits. What "
                + "helps is more effort, more workers, or destinations in advance"
        }
    }

    /// What precedes all figures of a result: the verdict, or the warning that replaces it.
    static func text(_ result: ReplayResult) -> (text: String, isGood: Bool)? {
        let report = result.traces.count == 1 ? result.traces[0] : result.total
        let verdict = Verdict(report)
        if let blank = BlankWarning.text(result) { return (blank, false) }
        if verdict != .sourceFails, let short = LimitWarning.text(result) { return (short, false) }
        return verdict.map { ($0.text(report), $0 == .good) }
    }
}
