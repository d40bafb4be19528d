import CSDL2
import Foundation
import TileCache
import TileTextures
import ViewerKit

/// Compares off-screen pictures of OpenGL with compositions in memory, and measures frames.
final class GLCheck {
    private let world: OpenWorld
    private let options: GLPainter.Options
    private let window: OpaquePointer
    private let context: GLContext
    private var counts = CheckCounts()
    private var wrong: [String] = []

    /// Size of the pictures.
    private static let size = (width: 480, height: 270)
    /// Sessions and frames of each without a trace.
    private static let sessions: UInt64 = 10
    private static let frames = 32
    /// Slots and bytes of a frame by session; the smallest of both bind.
    private static let limits: [(slots: Int, bytes: Int)] = [(256, bytes: 4_000_000), (64, 1 << 20), (16, 1 << 18)]

    init(_ world: OpenWorld, _ options: GLPainter.Options) throws {
        guard options.isOpaque else { throw ViewerError("--check-gl: a world without transparent tiles was expected") }
        (self.world, self.options) = (world, options)
        guard SDL_Init(SDL_INIT_VIDEO) == 0 else { throw Window.failure("no display could be opened") }
        window = try GLContext.makeWindow("TileCache", 64, 64, isVisible: false, isDebug: true)
        context = try GLContext(window)
    }

    /// - Throws: ``ViewerError`` with the first wrong frames, or with what was not compared.
    func run(_ playback: Playback?, frames limit: Int?) throws {
        try checkMessages()
        if var playback {
            let limits = (slots: options.slots, bytes: options.uploadBytes)
            try compare(name: "trace", limits: limits, frames: limit ?? .max) { playback.next() }
        } else {
            let frames = limit ?? Self.frames
            for seed in 0..<Self.sessions {
                // Short sessions have all kinds of motion too.
                var path = CheckPath(
                    world.pyramid,
                    width: Self.size.width,
                    height: Self.size.height,
                    seed: seed,
                    partLength: min(frames, Self.frames) / CheckPath.parts
                )
                let limit = Self.limits[Int(seed) % Self.limits.count]
                // Large tiles have fewer slots.
                let slots = TextureText.slots(
                    requested: nil,
                    needed: 0,
                    current: 0,
                    maximum: limit.slots,
                    slotBytes: options.slotBytes
                )
                let limits = (slots: slots, bytes: limit.bytes)
                try compare(name: "session \(seed)", limits: limits, frames: frames) { path.next() }
            }
        }
        let difference = counts.difference
        print(
            "equal     \(counts.frames) frames: \(difference.exact) pixels exactly, \(difference.weighted) weighted within 1, "
                + "\(difference.background) without a tile; \(difference.uncertain) at edges of turned tiles not compared; "
                + "wrong \(difference.wrongExact + difference.wrongWeighted)"
        )
        print(
            "uploads   in \(counts.framesWithUploads) frames, at most \(counts.largestUpload) bytes in one; "
                + "\(wrong.count) findings in all"
        )
        if playback == nil {
            try measure(1280, 720, frames: min(limit ?? 240, 240))
            try measure(3840, 2160, frames: min(limit ?? 120, 120))
        }
        if let gap = counts.gap(needsExact: playback == nil) { wrong.append(gap) }
        if !wrong.isEmpty { throw ViewerError("--check-gl:\n" + wrong.prefix(10).joined(separator: "\n")) }
    }

    /// An error made on purpose has a message, so that no message means no error.
    private func checkMessages() throws {
        let renderer = try options.makeRenderer()
        renderer.makeError()
        renderer.finish()
        let count = renderer.messages.all.count
        guard renderer.isDebugging, count == 1 else {
            throw ViewerError("--check-gl: a debug context with one message of an error was expected, not \(count)")
        }
        print("debug     an error made on purpose has its message")
    }

    private func makeCache() throws -> (TileCache, TileView) {
        let cache = try TileCache(TileCache.Configuration(byteLimit: .mebibytes(128), workers: 4))
        return (cache, cache.makeView(layers: [try world.add(to: cache)]))
    }

    // MARK: Pictures

    private func compare(
        name: String,
        limits: (slots: Int?, bytes: Int),
        frames: Int,
        _ next: () -> TileViewport?
    ) throws {
        let (cache, view) = try makeCache()
        defer { cache.shutdown(timeout: .milliseconds(500)) }
        var options = options
        options.uploadBytes = max(limits.bytes, options.slotBytes)
        options.slots = limits.slots
        let renderer = try options.makeRenderer()
        var slots = try options.makeSlots(for: renderer)
        let (width, height) = Self.size
        let area = PixelRectangle(x: 0, y: 0, width: width, height: height)
        try renderer.useTarget(width: width, height: height)
        var sizes: [SIMD2<Int>] = []
        var contents: [Int: Composition.Slot] = [:]
        var index = 0
        while index < frames, var viewport = next() {
            (viewport.width, viewport.height) = (Double(width), Double(height))
            view.update(viewport)
            let step = slots.update(view.frame(), of: view)
            let bytes = try renderer.carryOut(step, &slots, &sizes)
            renderer.clear(GLPainter.background, width: width, height: height)
            let quads = step.quads(viewport, sizes)
            renderer.draw(quads, in: area, windowHeight: height)
            view.levelBias = step.levelBias

            for upload in step.uploads { contents[upload.slot] = Self.pixels(of: upload.tile) }
            var picture = Composition(width: width, height: height, background: GLPainter.background)
            for quad in quads {
                if let slot = contents[quad.slot] { picture.draw(quad, slot) }
            }
            let result = picture.difference(to: renderer.readPixels(width: width, height: height))
            counts.add(uploadedBytes: bytes, result)
            if !result.isNone {
                wrong.append("\(name), frame \(index): \(result.wrongExact + result.wrongWeighted) pixels differ")
            }
            if bytes > options.uploadBytes { wrong.append("\(name), frame \(index): \(bytes) bytes were uploaded") }
            let most = (step.uploads.map(\.slot) + step.placements.map(\.slot)).max() ?? 0
            if most >= slots.slotLimit || step.slotCount > slots.slotLimit {
                wrong.append("\(name), frame \(index): slot \(most) of \(slots.slotLimit)")
            }
            // Loads need time, or all would be background.
            SDL_Delay(4)
            index += 1
        }
        wrong += renderer.messages.all.map { "\(name): \($0)" }
    }

    /// Copies a tile's pixels, red first.
    private static func pixels(of tile: LeasedTile) -> Composition.Slot {
        var pixels: [UInt8] = []
        tile.withUnsafeBytes { bytes in
            for row in 0..<tile.height {
                pixels += bytes[row * tile.bytesPerRow..<row * tile.bytesPerRow + tile.width * 4]
            }
        }
        if tile.format == .bgra8 {
            for index in stride(from: 0, to: pixels.count, by: 4) { pixels.swapAt(index, index + 2) }
        }
        return Composition.Slot(width: tile.width, height: tile.height, pixels: pixels)
    }

    // MARK: Costs

    /// Draws at 60 frames a second, as far as the machine can.
    private func measure(_ width: Int, _ height: Int, frames: Int) throws {
        let (cache, view) = try makeCache()
        defer { cache.shutdown(timeout: .milliseconds(500)) }
        let renderer = try options.makeRenderer()
        var slots = try options.makeSlots(for: renderer)
        let area = PixelRectangle(x: 0, y: 0, width: width, height: height)
        try renderer.useTarget(width: width, height: height)
        var sizes: [SIMD2<Int>] = []
        var path = CheckPath(world.pyramid, width: width, height: height, seed: 1)
        var (with, without, whole) = (FrameCosts(), FrameCosts(), FrameCosts())
        var late = 0
        for _ in 0..<frames {
            guard let viewport = path.next() else { break }
            let watch = StopWatch()
            view.update(viewport)
            let step = slots.update(view.frame(), of: view)
            let bytes = try renderer.carryOut(step, &slots, &sizes)
            renderer.clear(GLPainter.background, width: width, height: height)
            renderer.draw(step.quads(viewport, sizes), in: area, windowHeight: height)
            view.levelBias = step.levelBias
            renderer.flush()
            let spent = watch.elapsed.wall
            if bytes > 0 { with.add(spent) } else { without.add(spent) }
            renderer.finish()
            let all = watch.elapsed.wall
            whole.add(all)
            if all > 16_666_667 { late += 1 }
            slots.slotLimit = options.slotLimit(needed: step.neededSlots, current: step.slotCount, for: renderer)
            SDL_Delay(UInt32(max(16_666_667 - all, 0) / 1_000_000))
        }
        print("costs     \(width)x\(height), \(renderer.name), \(slots.slotLimit) slots")
        print("  thread with uploads     \(with.count) frames, \(with.text)")
        print("  thread without uploads  \(without.count) frames, \(without.text)")
        print("  until all is drawn      \(whole.count) frames, \(whole.text); \(late) later than 1/60 s")
        wrong += renderer.messages.all.map { "\(width)x\(height): \($0)" }
    }
}
