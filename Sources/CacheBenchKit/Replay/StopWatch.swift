/// Asks, frame after frame, whether a replay should stop, and says now and then how far it is.
struct StopWatch {
    private let hooks: ReplayHooks
    private let name: String
    private let reader: PanTraceReader?
    private var frames = 0
    /// Whether the replay was told to stop.
    private(set) var wasAsked = false

    init(_ input: ReplayInput, _ hooks: ReplayHooks) {
        self.hooks = hooks
        name = input.name
        reader = input.samples as? PanTraceReader
    }

    /// Whether to stop after a frame.
    mutating func isAsked(after time: Int64) -> Bool {
        frames &+= 1
        if frames & 1023 == 0 { hooks.progress?(name, reader?.partRead, Double(time) / 1e9) }
        wasAsked = hooks.shouldStop()
        return wasAsked
    }
}
