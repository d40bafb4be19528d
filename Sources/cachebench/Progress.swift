import CacheBenchKit
import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One line on standard error that says how far a long run is; nothing where that is no terminal.
struct Progress {
    private let total: Int
    private let isShown = isatty(2) == 1
    private let start = MonotonicTime.now.nanoseconds
    private var done = 0
    private var traceSeconds = 0.0

    init(total: Int) { self.total = total }

    func begin() { show("") }

    mutating func advance(_ report: ReplayReport) {
        done += 1
        traceSeconds += report.trace.seconds
        let elapsed = Double(MonotonicTime.now.nanoseconds - start) / 1e9
        show(elapsed > 0 ? ", \(Int((traceSeconds / elapsed).rounded())) times real time" : "")
    }

    /// Clears the line, before anything else is written.
    func end() {
        if isShown { writeToStandardError("\r\u{1B}[K") }
    }

    private func show(_ rate: String) {
        guard isShown, done < total else { return }
        writeToStandardError("\r\u{1B}[Ktrace \(done + 1) of \(total)\(rate)")
    }
}

/// The same for anything that counts its own steps.
struct ProgressLine {
    private let isShown = isatty(2) == 1

    func show(_ text: String) {
        if isShown { writeToStandardError("\r\u{1B}[K\(text)") }
    }

    /// Clears the line, before anything else is written.
    func clear() { show("") }
}
