import ArgumentParser
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
            Arrows move, + and - zoom, 0 shows one pixel for one, Home the whole world. O shows the overlay, [ \
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
    var memoryLimit = 64 << 20

    @Option(help: "Number of concurrent loads, 1 to 255.")
    var workers = 4

    @Option(
        help: "Size of the window: 1280x720. (default: 1280x720, or the trace's with --play)",
        transform: { text in
            guard let size = PanTraceHeader.Size(viewport: text), max(size.width, size.height) <= 16_384,
                size.width.rounded() == size.width, size.height.rounded() == size.height
            else { throw ValidationError("WIDTHxHEIGHT in whole pixels up to 16384 was expected, not '\(text)'") }
            return size
        }
    )
    var size: PanTraceHeader.Size?

    @Option(
        help: "Additional time of each load, to simulate a slow source: 40ms. (default: 0)",
        transform: { try duration($0) }
    )
    var loadLatency: Int64 = 0

    @Option(help: "Keeps tiles in this folder, up to 1 GiB; it is created if missing.")
    var disk: String?

    @Option(help: "Records the viewports as a pan trace for cachebench.")
    var record: String?

    @Option(help: "Plays a pan trace; input moves the view only after its end.")
    var play: String?

    @Option(help: "Reads input from a file of timed events; see Examples/Viewer/README.md.")
    var script: String?

    @Option(help: "Ends after this number of frames.")
    var frames: Int?

    @Option(help: "Writes a screenshot as PNG and ends; see --after.")
    var screenshot: String?

    @Option(help: "Time from the start to --screenshot. (default: 2s)", transform: { try duration($0) })
    var after: Int64 = 2_000_000_000

    @Flag(help: "Starts with the overlay shown.")
    var overlay = false

    @Flag(help: "Draws without a graphics card.")
    var software = false

    private static func duration(_ text: String) throws -> Int64 {
        guard let duration = QuantityText.duration(text) else {
            throw ValidationError("a duration with a unit (40ms, 2s) was expected, not '\(text)'")
        }
        return duration
    }

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames: 1 or more was expected, not \(frames)") }
        if play != nil, script != nil { throw ValidationError("--play or --script was expected, not both") }
    }

    func run() throws {
        do {
            let world = try source.open(latency: loadLatency)
            var playback: Playback?
            if let play { playback = try Playback(PanTraceReader(path: play), pyramid: world.pyramid) }
            var events: Script?
            if let script {
                guard let bytes = FileManager.default.contents(atPath: script) else {
                    throw ViewerError("\(script): a readable file of events was expected")
                }
                events = try Script(text: String(decoding: bytes, as: UTF8.self), name: script)
            }
            var settings = Session.Settings(
                size: playback?.size ?? size ?? PanTraceHeader.Size(width: 1280, height: 720),
                byteLimit: memoryLimit,
                workers: workers
            )
            settings.showsOverlay = overlay
            settings.frames = frames
            settings.screenshot = screenshot.map { (path: $0, after: after) }
            settings.record = record
            settings.usesSoftware = software
            if let disk { settings.stores = [try TileDiskStore(path: disk, byteLimit: 1 << 30)] }
            try Session(world, settings, script: events, playback: playback).run()
        } catch let error as ExitCode {
            throw error
        } catch {
            FileHandle.standardError.write(Data("tileviewer: \(error)\n".utf8))
            throw ExitCode(2)
        }
    }
}
