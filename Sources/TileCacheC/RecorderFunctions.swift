public import CTileCache
internal import PanTraces
internal import Synchronization
internal import TileCache

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Object behind `tilecache_recorder`.
final class RecorderHandle: Sendable {
    let recorder: PanTraceRecorder
    let output: TraceOutput?

    init(_ recorder: PanTraceRecorder, to output: TraceOutput?) {
        self.recorder = recorder
        self.output = output
    }
}

/// Destination of a trace that is written as it is recorded.
///
/// `@unchecked Sendable`: only the error changes, which is atomic; the recorder makes one call at a time.
final class TraceOutput: @unchecked Sendable {
    private let function: tilecache_text_function?
    private let context: CallbackContext
    private let fileDescriptor: Int32
    private let error = Atomic<Int32>(0)

    /// `errno` of the first failed write; 0 for none.
    var writeError: Int32 { error.load(ordering: .relaxed) }

    init(function: tilecache_text_function?, _ context: CallbackContext, fileDescriptor: Int32) {
        self.function = function
        self.context = context
        self.fileDescriptor = fileDescriptor
    }

    func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let function else { return appendToFile(UnsafeRawBufferPointer(bytes)) }
            ctilecache_set_writing_trace(1)
            defer { ctilecache_set_writing_trace(0) }
            bytes.withMemoryRebound(to: CChar.self) { function(context.pointer, $0.baseAddress, $0.count) }
        }
    }

    private func appendToFile(_ bytes: UnsafeRawBufferPointer) {
        guard writeError == 0 else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let written = write(fileDescriptor, part.baseAddress, part.count)
            if written < 0 {
                guard errno == EINTR else { return error.store(errno, ordering: .relaxed) }
            } else {
                rest = rest.dropFirst(written)
            }
        }
    }
}

func recorderHandle(_ handle: OpaquePointer?) throws(Failure) -> RecorderHandle {
    let handle = try object(handle, as: RecorderHandle.self, "recorder")
    try checkIsNotWritingTrace()
    return handle
}

extension tilecache_recorder_counts: VersionedStructure {}

extension tilecache_recorder_options: VersionedStructure {
    package static var defaults: tilecache_recorder_options {
        var options = tilecache_recorder_options()
        options.tile_size = 256
        options.file_descriptor = -1
        return options
    }

    func header() throws(Failure) -> PanTraceHeader {
        guard let tileSize = Int(exactly: tile_size), PanTraceHeader.tileSizes.contains(tileSize) else {
            throw .argument("options->tile_size must be 1 to 65536, not \(tile_size)")
        }
        var header = PanTraceHeader(wrapsX: wraps_x != 0, tileSize: tileSize)
        header.viewport = size(viewport_width, viewport_height)
        if let viewport = header.viewport, !viewport.isViewport {
            throw .argument(
                "options->viewport must be larger than 0 and at most 1000000, or 0 x 0, "
                    + "not \(viewport.width) x \(viewport.height)"
            )
        }
        header.world = size(world_width, world_height)
        if let world = header.world, !world.isWorld {
            throw .argument(
                "options->world must have whole numbers from 1 to 2^40, or 0 x 0, not \(world.width) x \(world.height)"
            )
        }
        if let view_name {
            guard let name = String(validatingCString: view_name) else {
                throw .argument("options->view_name must be UTF-8")
            }
            header.viewName = name
        }
        return header
    }

    private func size(_ width: Double, _ height: Double) -> PanTraceHeader.Size? {
        width == 0 && height == 0 ? nil : PanTraceHeader.Size(width: width, height: height)
    }
}

/// See `tilecache.h`.
@c(tilecache_recorder_options_init)
public func tileCacheRecorderOptionsInit(
    _ options: UnsafeMutablePointer<tilecache_recorder_options>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(options, size: structSize, "options")
}

/// See `tilecache.h`.
@c(tilecache_recorder_create)
public func tileCacheRecorderCreate(
    _ options: UnsafePointer<tilecache_recorder_options>?,
    _ recorder: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let recorder else { throw .isNull("recorder") }
        let fields = try readOrDefaults(options, "options")
        let header = try fields.header()
        guard fields.file_descriptor >= -1, fields.write == nil || fields.file_descriptor == -1 else {
            throw .argument("options must have a write function, or a file descriptor of 0 or more, or neither")
        }
        guard fields.write != nil || fields.file_descriptor >= 0 else {
            recorder.pointee = makeHandle(RecorderHandle(PanTraceRecorder(header: header), to: nil))
            return
        }
        let context = CallbackContext(fields.context, destroy: fields.write == nil ? nil : fields.destroy)
        let output = TraceOutput(function: fields.write, context, fileDescriptor: fields.file_descriptor)
        let made = PanTraceRecorder(header: header) { output.append($0) }
        recorder.pointee = makeHandle(RecorderHandle(made, to: output))
    }
}

/// See `tilecache.h`.
@c(tilecache_recorder_release)
public func tileCacheRecorderRelease(_ recorder: OpaquePointer?) { _ = giveBack(recorder, as: RecorderHandle.self) }

/// See `tilecache.h`.
@c(tilecache_recorder_record)
public func tileCacheRecorderRecord(
    _ recorder: OpaquePointer?,
    _ viewport: UnsafePointer<tilecache_viewport>?,
    _ time: Int64
) -> tilecache_status {
    attempt(on: try recorderHandle(recorder).recorder) { recorder throws(Failure) in
        let place = try readViewport(viewport, "viewport")
        let now = time == .min ? MonotonicTime.now.nanoseconds : time
        guard recorder.record(place, at: now) else {
            throw .argument("the viewport cannot be drawn, or its time is not later than the one before")
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_recorder_get_counts)
public func tileCacheRecorderGetCounts(
    _ recorder: OpaquePointer?,
    _ counts: UnsafeMutablePointer<tilecache_recorder_counts>?
) -> tilecache_status {
    attempt(on: try recorderHandle(recorder)) { handle throws(Failure) in
        let found = handle.recorder.counts
        var fields = tilecache_recorder_counts()
        fields.recorded = Int64(found.recorded)
        fields.out_of_order = Int64(found.outOfOrder)
        fields.undrawable = Int64(found.undrawable)
        fields.resized = Int64(found.resized)
        fields.write_error = handle.output?.writeError ?? 0
        try write(fields, to: counts, "counts")
    }
}

/// See `tilecache.h`.
@c(tilecache_recorder_get_text)
public func tileCacheRecorderGetText(
    _ recorder: OpaquePointer?,
    _ text: UnsafeMutablePointer<CChar>?,
    _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        try write(try recorderHandle(recorder).recorder.text, to: text, capacity: capacity, length: length)
    }
}
