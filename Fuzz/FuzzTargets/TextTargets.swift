import Foundation
import PanTraces

@testable import CacheBenchKit
@testable import TileCache
@testable import TileSources

/// Accepted traces satisfy the format's promises.
func fuzzTrace(_ bytes: UnsafeRawBufferPointer) {
    do {
        let reader = try PanTraceReader(bytes: Array(bytes), name: "fuzz")
        var last = Int64.min
        while let sample = try reader.nextSample() {
            expect(sample.time > last && sample.time >= 0, "times grow: \(last), \(sample.time)")
            expect(sample.center.x.isFinite && sample.center.y.isFinite, "centres are finite")
            expect(sample.scale.isFinite && sample.scale > 0, "scales are larger than 0")
            last = sample.time
        }
    } catch {
        expect(!"\(error)".isEmpty, "errors say something")
    }
}

/// Parsed numbers are in range.
func fuzzWords(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let count = QuantityText.bytes(text) {
        expect(count >= 0 && ByteCount.bytes(count).bytes == count, "\(count) bytes")
        expect(!ByteCount.bytes(count).description.isEmpty && ByteCount.gibibytes(count).bytes >= 0, "units")
    }
    if let time = QuantityText.duration(text) { expect(time >= 0, "\(time) ns") }
    _ = MemoryLimit(text)
    _ = LoadTimes(text)
    _ = CodecCharge(text)
    if let factors = ZoomoutOptions.factors(text) { expect(factors.allSatisfy { $0 >= 1 }, "factors \(factors)") }
    _ = StressFault.list(text)
    if let address = TileSourceAddress(text) {
        expect(TileSourceAddress(address.description) == address, "an address says what it is")
    }
    if let template = try? TileTemplate(text) {
        expect(template.address(zoom: 30, column: 1, row: 2).lowercased().hasPrefix("http"), "addresses")
    }
    var readings = MemoryReadings()
    readings.takePressure(text)
    for version in [ControlGroups.Version.one, .two] { readings.takeGroup(version) { _ in text } }
    _ = readings.level(since: MemoryReadings.Events())
    _ = ControlGroups(groups: text, mounts: text)
}

/// A line with a check, a line that is ignored (the corpus has it), and a report. A report is never worse than itself.
func fuzzReports(_ bytes: UnsafeRawBufferPointer) {
    let lines = bytes.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3 else { return }
    let check = try? FieldCheck(String(decoding: lines[0], as: UTF8.self))
    guard let report = try? JSONTree(parsing: Data(lines[2])), case .object = report else {
        return
    }
    _ = try? check?.failures(in: report)
    _ = try? check?.validate(against: report)
    let baseline = Baseline(report: report, path: "fuzz")
    if let outcome = try? baseline.compare(report) {
        expect(outcome.worse.isEmpty, "a report is worse than itself: \(outcome.worse)")
    }
}
