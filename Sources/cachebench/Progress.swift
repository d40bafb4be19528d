import CacheBenchKit
import Foundation
import TileCache

/// One line of progress on standard error: part done, speed and remaining time. Silent if that is not a terminal.
final class Progress: Sendable {
    private static let pause: Int64 = 100_000_000

    private struct State {
        var lastShown: Int64 = 0
        var traces = 0
        var traceSeconds = 0.0
        /// Progress of running traces by name. Equal names of two folders share an entry, which does not matter here.
        var underWay: [String: (part: Double, seconds: Double)] = [:]
    }

    private let total: Int
    private let isShown = isatty(2) == 1
    private let start = MonotonicTime.now.nanoseconds
    private let state = Lock(State())

    /// - Parameter total: Number of traces to replay, if any.
    init(total: Int = 0) { self.total = total }

    func finished(_ report: ReplayReport) {
        state.withLock {
            $0.traces += 1
            $0.traceSeconds += report.trace.seconds
            $0.underWay[report.trace.name] = nil
        }
    }

    func reached(_ name: String, part: Double?, seconds: Double) {
        state.withLock { $0.underWay[name] = (part ?? 0, seconds) }
        show { state, elapsed in
            let now = state.underWay.values
            let rate = now.reduce(state.traceSeconds) { $0 + $1.seconds } / elapsed
            let done = now.reduce(Double(state.traces)) { $0 + $1.part } / Double(max(total, 1))
            let which = total > 1 ? "\(state.traces) of \(total) traces" : "replaying"
            let times = rate < 10 ? "\((rate * 10).rounded() / 10)" : "\(Int(min(rate, 1e12)))"
            return which + ", \(times) times real time" + Self.rest(done, elapsed)
        }
    }

    func done(_ count: Int, of all: Int, _ what: String) {
        show { _, elapsed in
            let rate = Double(count) / elapsed
            return "\(count) of \(all) \(what), \((rate * 10).rounded() / 10) a second"
                + Self.rest(Double(count) / Double(max(all, 1)), elapsed)
        }
    }

    /// Notes the part of one piece of work that is done, 0 to 1.
    func reached(_ part: Double, _ what: String) {
        show { _, elapsed in "\(what), \(Int(part * 100)) %" + Self.rest(part, elapsed) }
    }

    func show(_ line: String) { show { _, _ in line } }

    /// Clears the line, before anything else is written.
    func end() {
        if isShown { writeToStandardError("\r\u{1B}[K") }
    }

    private static func rest(_ done: Double, _ elapsed: Double) -> String {
        guard done > 0.01, done < 1, elapsed > 0.5 else { return "" }
        let seconds = Int((elapsed / done - elapsed).rounded(.up))
        return seconds < 100 ? ", \(seconds) s left" : ", \(seconds / 60) min left"
    }

    private func show(_ text: (State, _ elapsed: Double) -> String) {
        guard isShown else { return }
        let now = MonotonicTime.now.nanoseconds
        let line = state.withLock { state -> String? in
            guard now - state.lastShown >= Self.pause else { return nil }
            state.lastShown = now
            return text(state, max(Double(now - start) / 1e9, 1e-3))
        }
        if let line { writeToStandardError("\r\u{1B}[K\(line.prefix(79))") }
    }
}
