import PanTraces

/// Checks after each frame of a replay whether to stop. Reports its progress now and then.
struct StopWatch {
    private let hooks: ReplayHooks
    private let name: String
    private let reader: PanTraceReader?
    /// End of the replay in seconds, if it is known in advance.
    private let end: Double?
    private let interval: Int
    private var frames = 0
    private(set) var wasAsked = false

    init(_ input: ReplayInput, _ options: ReplayOptions, _ hooks: ReplayHooks) {
        self.hooks = hooks
        name = input.name
        reader = input.samples as? PanTraceReader
        let last = (input.samples as? PanSampleList)?.lastTime
        end = [last, options.duration].compactMap { $0 }.min().map { Double($0) / 1e9 }
        // The real clock takes as long as the trace; the virtual one processes thousands of frames a second.
        interval = options.clock == .real ? 8 : 1024
    }

    mutating func isAsked(after time: Int64) -> Bool {
        frames &+= 1
        if frames % interval == 0 {
            let seconds = Double(time) / 1e9
            let parts = [reader?.partRead, end.map { min(seconds / max($0, 1e-9), 1) }]
            hooks.progress?(name, parts.compactMap { $0 }.max(), seconds)
        }
        wasAsked = hooks.shouldStop()
        return wasAsked
    }
}
