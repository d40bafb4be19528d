import ArgumentParser
import CacheBenchKit
import Foundation
import PanTraces
import TileCache
import TileDiskStore
import ViewerKit

@main
struct TileViewer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tileviewer",
        abstract: "Shows a world through TileCache.",
        discussion: """
            Drag to move, release while moving to fling; wheel, pinch or double click to zoom about the pointer.
            Arrows move, + and - zoom, comma and period turn, 0 shows one pixel for one, Home the whole world. O shows the overlay, [ \
            and ] halve and double the memory limit, P writes a screenshot, Q quits.
            """
    )

    @Argument(help: "World to show: \(WorldSource.usage).", transform: { try WorldSource(argument: $0) })
    var source = WorldSource.builtIn

    @Option(
        help: "Memory limit of the cache: 64MiB, 1.5GB. (default: 64MiB)",
        transform: { text in
            guard let bytes = QuantityText.bytes(text), bytes > 0 else {
                throw ValidationError("bytes with a unit (64MiB, 1.5GB) were expected, not '\(text)'")
            }
            return bytes
        }
    )
    var memoryLimit: Int?

    @Option(help: "Number of concurrent loads, 1 to 255. (default: 4)")
    var workers: Int?

    @Option(
        help: """
            Size of the window, in points: 1280x720. With --play it is that of the trace's view, in pixels. \
            (default: 1280x720)
            """,
        transform: { text in
            guard let size = PanTraceHeader.Size(viewport: text), max(size.width, size.height) <= 16_384,
                size.width.rounded() == size.width, size.height.rounded() == size.height
            else { throw ValidationError("WIDTHxHEIGHT in whole pixels up to 16384 was expected, not '\(text)'") }
            return size
        }
    )
    var size: PanTraceHeader.Size?

    @Option(
        help: "Additional time of each load of the built-in world, to simulate a slow source: 40ms. (default: 0)",
        transform: { try duration($0) }
    )
    var loadLatency: Int64?

    @Option(help: "Keeps tiles in this folder, up to 1 GiB; it is created if missing.")
    var disk: String?

    @Option(help: "Records the viewports as a pan trace for cachebench.")
    var record: String?

    @Option(
        help:
            "Writes an animated picture of the session as WebP, ten frames a second; with --play it ends with the trace."
    )
    var recordPicture: String?

    @Option(
        help: """
            Shows prefetch policies side by side, each with a cache of its own: 2 to 4 of \
            \(PrefetchRule.names.joined(separator: ", ")). --size is that of a pane (default: 480x270).
            """,
        transform: { try rules($0) }
    )
    var compare: [PrefetchRule] = []

    @Option(
        help:
            "Plays a pan trace; input moves the view only after its end. The built-in world takes the size of the trace's."
    )
    var play: String?

    @Option(help: "Reads input from a file of timed events, which Sources/ViewerKit/Script.swift lists.")
    var script: String?

    @Option(help: "Ends after this number of frames.")
    var frames: Int?

    @Option(help: "Writes a screenshot as PNG and ends; see --after.")
    var screenshot: String?

    @Option(help: "Time from the start to --screenshot. (default: 2s)", transform: { try duration($0) })
    var after: Int64?

    @Flag(help: "Starts with the overlay shown.")
    var overlay = false

    @Flag(help: "Draws with SDL on the processor, not with OpenGL.")
    var software = false

    @Option(
        help: "Number of texture slots, 1 to 2048. (default: 256, or more if the screen needs them, within 512 MiB)"
    )
    var textureSlots: Int?

    @Option(
        help: "Maximum bytes of a frame's uploads to textures: 4MB, 1MiB. (default: 4MB, or a tile if that is larger)",
        transform: { text in
            guard let bytes = QuantityText.bytes(text), bytes > 0, bytes <= 1 << 30 else {
                throw ValidationError("bytes with a unit (4MB, 1MiB) up to 1GiB were expected, not '\(text)'")
            }
            return bytes
        }
    )
    var uploadBudget: Int?

    @Option(help: "Pixels for each point of text, 1 to 4, with OpenGL. (default: that of the window system)")
    var uiScale: Double?

    @Flag(
        help: """
            Compares pictures of OpenGL with a composition in memory, checks budgets and a debug context, measures \
            frames and ends; of ten sessions, or of the trace of --play. --frames is the number of frames of each.
            """
    )
    var checkGl = false

    private static func duration(_ text: String) throws -> Int64 {
        guard let duration = QuantityText.duration(text) else {
            throw ValidationError("a duration with a unit (40ms, 2s) was expected, not '\(text)'")
        }
        return duration
    }

    private static func rules(_ text: String) throws -> [PrefetchRule] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (2...4).contains(names.count) else {
            throw ValidationError("2 to 4 policies with commas between them were expected, not '\(text)'")
        }
        return try names.map { name in
            guard let rule = PrefetchRule(name) else {
                let known = PrefetchRule.names.joined(separator: ", ")
                throw ValidationError("one of the policies \(known) was expected, not '\(name)'")
            }
            return rule
        }
    }

    func validate() throws {
        if let problem = FlagRules.problem(given, isBuiltIn: source == .builtIn) { throw ValidationError(problem) }
        if let frames, frames < 1 { throw ValidationError("--frames: 1 or more was expected, not \(frames)") }
        if let textureSlots, !(1...2048).contains(textureSlots) {
            throw ValidationError("--texture-slots: 1 to 2048 was expected, not \(textureSlots)")
        }
        if let uiScale, !(1...4).contains(uiScale) {
            throw ValidationError("--ui-scale: 1 to 4 was expected, not \(uiScale)")
        }
    }

    /// Flags of the command line that exclude others, or that others exclude.
    private var given: Set<String> {
        let flags: [(String, Bool)] = [
            ("--memory-limit", memoryLimit != nil), ("--workers", workers != nil), ("--size", size != nil),
            ("--load-latency", loadLatency != nil), ("--disk", disk != nil), ("--record", record != nil),
            ("--record-picture", recordPicture != nil), ("--compare", !compare.isEmpty), ("--play", play != nil),
            ("--script", script != nil), ("--screenshot", screenshot != nil), ("--after", after != nil),
            ("--overlay", overlay), ("--software", software), ("--texture-slots", textureSlots != nil),
            ("--upload-budget", uploadBudget != nil), ("--ui-scale", uiScale != nil), ("--check-gl", checkGl),
        ]
        return Set(flags.filter(\.1).map(\.0))
    }

    /// Size of the window, or of a pane: in points, or in pixels if it is a trace's.
    private func paneSize(_ playback: Playback?) throws -> PanTraceHeader.Size {
        guard compare.isEmpty else { return size ?? PanTraceHeader.Size(width: 480, height: 270) }
        return try playback?.windowSize() ?? size ?? PanTraceHeader.Size(width: 1280, height: 720)
    }

    func run() throws {
        do {
            let trace = try play.map { try PanTraceReader(path: $0) }
            let world = try source.open(latency: loadLatency ?? 0, for: trace?.header)
            let playback = try trace.map { try Playback($0, pyramid: world.pyramid) }
            var slots = GLPainter.Options(world)
            slots.slots = textureSlots
            slots.uploadBytes = try TextureText.uploadBudget(requested: uploadBudget, slotBytes: slots.slotBytes)
            if checkGl {
                try GLCheck(world, slots).run(playback, frames: frames)
                return
            }
            var events: Script?
            if let script {
                guard let bytes = FileManager.default.contents(atPath: script) else {
                    throw ViewerError("\(script): a readable file of events was expected")
                }
                events = try Script(text: String(decoding: bytes, as: UTF8.self), name: script)
            }
            var settings = Session.Settings(
                size: try paneSize(playback),
                byteLimit: memoryLimit ?? 64 << 20,
                workers: workers ?? 4
            )
            settings.isInPixels = playback != nil && compare.isEmpty
            settings.showsOverlay = overlay
            settings.frames = frames
            settings.screenshot = screenshot.map { (path: $0, after: after ?? 2_000_000_000) }
            settings.record = record
            settings.recordPicture = recordPicture
            settings.rules = compare
            settings.slots = software ? nil : slots
            settings.pixelsPerPoint = uiScale
            if let disk { settings.stores = [try TileDiskStore(path: disk, byteLimit: .gibibytes(1))] }
            try Session(world, settings, script: events, playback: playback).run()
        } catch let error as ExitCode {
            throw error
        } catch {
            FileHandle.standardError.write(Data("tileviewer: \(error)\n".utf8))
            throw ExitCode(2)
        }
    }
}
