/// Converts a frame's limits of bytes and time to bytes, by the measured speed of uploads.
struct UploadBudget: Sendable {
    var bytes: Int
    /// In nanoseconds.
    var time: Int64
    /// Bytes of a slot, the least that a frame may upload.
    let slotBytes: Int
    // Sums that decay, so that the speed follows the last few frames.
    private var measuredBytes = 0.0
    private var measuredTime = 0.0

    init(bytes: Int, time: Int64, slotBytes: Int) {
        self.bytes = bytes
        self.time = time
        self.slotBytes = slotBytes
    }

    /// Notes a frame's uploads. Times of 0 or less count as 0.
    mutating func note(bytes: Int, nanoseconds: Int64) {
        guard bytes > 0 else { return }
        measuredBytes = measuredBytes * 0.75 + Double(bytes)
        measuredTime = measuredTime * 0.75 + Double(max(nanoseconds, 0))
    }

    /// Bytes that a frame may upload. Without a measurement, the limit of bytes.
    var allowed: Int {
        guard measuredTime > 0 else { return bytes }
        let timed = measuredBytes / measuredTime * Double(time)
        return max(min(bytes, Int(min(timed, 1e15))), slotBytes)
    }
}
