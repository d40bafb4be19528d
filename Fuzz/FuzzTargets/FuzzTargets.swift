import Foundation

/// Fuzz targets; the environment's `TILECACHE_FUZZ` names one.
enum FuzzTarget: String, CaseIterable {
    /// Pan traces.
    case trace
    /// Command line values: sizes, durations, lists.
    case words
    /// Compressed blocks, damaged or crafted.
    case block
    /// Calls of the C interface.
    case calls
    /// Reports of earlier runs, and checks.
    case reports
    /// PNG, JPEG and WebP, as tiles and as one large image.
    case images
    /// Descriptors of Deep Zoom images.
    case dzi
    /// SQLite files that may be MBTiles.
    case mbtiles
    /// PMTiles archives.
    case pmtiles
    /// TIFF files.
    case tiff
    /// Descriptions of images of IIIF servers.
    case iiif
    /// Capabilities of WMTS servers.
    case wmts

    /// Takes one input. A crash or a broken promise is a finding.
    func run(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .trace: fuzzTrace(bytes)
        case .words: fuzzWords(bytes)
        case .block: fuzzBlock(bytes)
        case .calls: fuzzCalls(bytes)
        case .reports: fuzzReports(bytes)
        case .images: fuzzImages(bytes)
        case .dzi: fuzzDeepZoom(bytes)
        case .mbtiles: fuzzMBTiles(bytes)
        case .pmtiles: fuzzPMTiles(bytes)
        case .tiff: fuzzTIFF(bytes)
        case .iiif: fuzzIIIF(bytes)
        case .wmts: fuzzWMTS(bytes)
        }
    }

    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["TILECACHE_FUZZ"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError("TILECACHE_FUZZ is one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()
}

/// Entry point of libFuzzer, called with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    let begin = threadTime()
    FuzzTarget.chosen.run(UnsafeRawBufferPointer(start: start, count: count))
    let cost = threadTime() - begin
    // A few bytes may be an image of millions of rows, and sanitizers are slow.
    expect(cost <= 10_000_000_000 + count * 1_000_000, "\(count) bytes take \(cost) ns")
    return 0
}

/// CPU time of the thread in nanoseconds.
private func threadTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
}

/// Ends the program with an explanation if a promise is broken.
func expect(_ holds: Bool, _ promise: @autoclosure () -> String) {
    if !holds { fatalError(promise()) }
}

/// Takes numbers off the front of an input; zeros after its end.
struct Bytes {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }
    var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: rest) }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func word() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) } }

    /// A meaningful number half of the time, any number otherwise.
    mutating func integer() -> Int64 {
        switch byte() {
        case 0..<100: Int64(byte())
        case 100..<160: Int64(byte()) << Int64(byte() % 56)
        case 160..<180: -Int64(byte())
        case 180..<190: .min
        case 190..<200: .max
        default: Int64(bitPattern: word())
        }
    }

    mutating func number() -> Double {
        switch byte() {
        case 0..<120: Double(byte()) * 16
        case 120..<150: 1 / (1 + Double(byte()))
        case 150..<160: .nan
        case 160..<170: .infinity
        case 170..<180: -Double(byte())
        default: Double(bitPattern: word())
        }
    }
}
