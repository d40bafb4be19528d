import Dispatch
import TestSupport

@testable import TileCache

/// One random configuration under one random schedule. Actions of renderers and sources, and checks at the end.
final class ExploredRun: @unchecked Sendable {
    private static let world = 256

    private let scheduler: StepScheduler
    private let faults: ExploredFaults
    private var cache: TileCache?
    private var layers: [(own: TileLayer, pyramid: TilePyramid)] = []
    private var renderers: [ExploredRenderer] = []
    private var held: [TileFrame] = []
    private let fullLimit: Int
    private let isTight: Bool
    /// Last viewport of a view.
    private var place = (center: WorldPoint(x: 60, y: 60), scale: 1.0)
    private var isEnding = false
    private var isOver = false
    private var problems: [String] = []
    /// Description of the run, for its report.
    private(set) var script: [String] = []

    var steps: Int { scheduler.count }

    init(seed: UInt64) throws {
        scheduler = StepScheduler(seed: seed)
        faults = ExploredFaults(scheduler, percent: [0, 10, 40][scheduler.below(3)])
        isTight = scheduler.chance(25)
        fullLimit = isTight ? (160 + scheduler.below(300)) << 10 : 4 << 20
        let workers = 1 + scheduler.below(3)
        var configuration = TileCache.Configuration(byteLimit: .bytes(fullLimit), workers: workers)
        configuration.usesCompressedTier = scheduler.chance(85)
        configuration.retryDelay = .nanoseconds(1_000_000 << Int64(scheduler.below(10)))
        configuration.stuckLoadTime = .nanoseconds(scheduler.chance(30) ? 2_000_000 : 10_000_000_000)
        scheduler.adopt(&configuration)
        script.append("\(fullLimit) bytes, \(workers) workers, \(faults.percent) % faults")
        let cache = try TileCache(configuration)
        self.cache = cache
        for _ in 0...scheduler.below(3) { try addLayer(to: cache) }
        for _ in 0...scheduler.below(3) { makeRenderer(of: cache) }
    }

    // MARK: - What happens

    /// Runs to the end; returns the failure, if any.
    func run() -> [String] {
        let shutsDownAt = scheduler.chance(20) ? scheduler.below(12) : .max
        for turn in 0..<8 + scheduler.below(16) {
            if turn == shutsDownAt { shutDown() }
            if scheduler.chance(40) {
                scheduler.post({ self.act() }, on: renderers[scheduler.below(renderers.count)].queue)
            } else {
                act()
            }
            for _ in 0..<[0, 1, 3, 12, 40][scheduler.below(5)] { scheduler.runOne() }
            checkLedger()
            // A notification at rest would be lost with the next frame.
            if !isOver, scheduler.chance(60), scheduler.settle(atMost: 400) { checkRest() }
            if !problems.isEmpty { return problems }
        }
        finish()
        return problems
    }

    private func act() {
        guard let cache, !isEnding else { return }
        let action = scheduler.below(100)
        let renderer = renderers.isEmpty ? nil : renderers[scheduler.below(renderers.count)]
        let layer = layers[scheduler.below(layers.count)]
        script.append("\(action)")
        switch action {
        case 0..<12:
            choosePlace()
            if let renderer { look(renderer) }
        case 12..<42:
            // Views that are linked.
            choosePlace()
            for renderer in renderers { look(renderer) }
        case 42..<46: if let renderer { draw(renderer) }
        case 46..<60: compress(layer.own, layer.pyramid, cache)
        case 60..<62: damage(cache)
        case 62..<67: cache.byteLimit = .bytes(fullLimit / 4 * (1 + scheduler.below(4)))
        case 67..<70: cache.trim(to: .bytes(scheduler.below(fullLimit)))
        case 70..<74: try? layer.own.pin(levels: 0...scheduler.below(2))
        case 74..<76: layer.own.unpin()
        case 76..<82: layer.own.invalidate(region: region(), keepsStale: scheduler.chance(60))
        case 82..<86: if renderers.count < 4 { makeRenderer(of: cache) }
        case 86..<89: if renderers.count > 1 { renderers.removeFirst().close() }
        case 89..<91: try? addLayer(to: cache)
        case 91..<95: if held.isEmpty, let renderer { hold(renderer) } else { letGo() }
        case 95..<97: _ = cache.statistics
        default: if let renderer { need(renderer) }
        }
    }

    /// Holds a frame. It may have decompressed tiles, of which the view then is not notified.
    private func hold(_ renderer: ExploredRenderer) {
        guard let frame = renderer.view?.frame() else { return }
        renderer.last = FrameLack(frame)
        held = [frame]
    }

    private func letGo() {
        // Other steps run while the frames end.
        let gone = held
        held = []
        withExtendedLifetime(gone) {}
    }

    private func region() -> PixelRect? {
        guard scheduler.chance(70) else { return nil }
        let (x, y) = (Double(scheduler.below(Self.world)), Double(scheduler.below(Self.world)))
        return PixelRect(minX: x, minY: y, maxX: x + 60, maxY: y + 40)
    }

    private func addLayer(to cache: TileCache) throws {
        guard layers.count < 5 else { return }
        let pyramid = try TilePyramid.powerOfTwo(
            worldWidth: Self.world,
            worldHeight: Self.world,
            tileSize: [16, 32][scheduler.below(2)],
            wrapsX: scheduler.chance(30)
        )
        var options = LayerOptions(isCompressible: scheduler.chance(85))
        if scheduler.chance(15) { options.maximumShare = 0.7 }
        let number = layers.count
        let isBlocking = scheduler.chance(50)
        if scheduler.chance(15) {
            options.synthesizedLevels = 1
            // A worker would wait for a step below it on the stack.
            scheduler.nestsWorkers = false
        }
        script.append("layer \(isBlocking) \(options.synthesizedLevels)")
        let blocking = ExploredBlockingSource(layer: number, faults: faults)
        let source: any BlockingTileSource =
            scheduler.chance(50) ? blocking : ExploredEncodedSource(plain: blocking)
        let own =
            isBlocking
            ? try cache.addLayer(source, pyramid: pyramid, options: options)
            : try cache.addLayer(
                ExploredAsyncSource(layer: number, faults: faults),
                pyramid: pyramid,
                options: options
            )
        layers.append((own, pyramid))
    }

    private func makeRenderer(of cache: TileCache) {
        let some = layers.map(\.own).filter { _ in scheduler.chance(70) }
        let layers = some.isEmpty ? [self.layers[0].own] : some
        let view =
            scheduler.chance(75)
            ? ServiceSetup.quiet(cache, layers) : cache.makeView(layers: layers)
        if scheduler.chance(50) { view.promotionBudget = PromotionBudget(maximumTiles: 0) }
        let renderer = ExploredRenderer(view, DispatchQueue(label: "test.renderer"))
        view.callbackQueue = renderer.queue
        let drawsAtOnce = scheduler.chance(50)
        view.onTilesReady = { [weak renderer, unowned self] in
            if isOver { problems.append("a callback began after the end") }
            guard let renderer else { return }
            if drawsAtOnce { draw(renderer) } else { scheduler.post({ self.draw(renderer) }, on: renderer.queue) }
        }
        renderers.append(renderer)
    }

    /// One of few, and often the last one again. Views share tiles and return to compressed ones.
    private func choosePlace() {
        guard scheduler.chance(60) else { return }
        let center = WorldPoint(x: Double(60 + 100 * scheduler.below(2)), y: Double(60 + 8 * scheduler.below(2)))
        place = (center, [1, 1, 1, 1, 0.5, 0.25][scheduler.below(6)])
    }

    private func look(_ renderer: ExploredRenderer) {
        renderer.view?.update(TileViewport(center: place.center, width: 40, height: 24, scale: place.scale))
        draw(renderer)
    }

    private func need(_ renderer: ExploredRenderer) {
        let layer = layers[scheduler.below(layers.count)]
        let level = scheduler.below(layer.pyramid.maximumLevel + 1)
        let side = layer.pyramid.levels[level].columns
        renderer.view?.update(
            needing: (0..<4).map { _ in
                NeededTile(
                    layer: layer.own.id,
                    tile: TileCoordinate(level: level, column: scheduler.below(side), row: scheduler.below(side))
                )
            }
        )
        draw(renderer)
    }

    private func draw(_ renderer: ExploredRenderer) {
        guard let view = renderer.view else { return }
        let frame = view.frame()
        renderer.last = FrameLack(frame)
        check(frame)
    }

    private func compress(_ layer: TileLayer, _ pyramid: TilePyramid, _ cache: TileCache) {
        for (level, size) in pyramid.levels.enumerated() {
            for tile in TileRange(level: level, columns: 0..<size.columns, rows: 0..<size.rows)
            where scheduler.chance(80) && layer.isResident(tile) {
                _ = layer.demote(tile)
            }
        }
    }

    /// Damages blocks in memory; they are missed and loaded again.
    private func damage(_ cache: TileCache) {
        cache.core.lock.withLock { state in
            var forms: [ColdForm] = []
            state.pool.table.forEach {
                let entry = state.pool.table[$0]
                if entry.residency == .compressed { forms.append(entry.form) }
            }
            for form in forms where scheduler.chance(50) {
                for part in state.parts(of: form) {
                    UnsafeMutablePointer<UInt8>(bitPattern: part.address)?.pointee ^= 1
                }
            }
        }
    }

    private func shutDown() {
        script.append("shutdown")
        _ = cache?.shutdown(timeout: .zero)
        isOver = true
        if scheduler.pendingTimers > 0 { problems.append("a timer is left after shutdown") }
    }

    // MARK: - What must hold

    private func check(_ frame: TileFrame) {
        for placement in frame {
            let identity = placement.tile.identity
            guard !isMade(identity) else { continue }
            if !holds(placement.tile, expectedPixel(layer: identity.layer.index, identity.tile)) {
                problems.append("the pixels of \(identity) are wrong")
            }
        }
    }

    private func isMade(_ identity: TileIdentity) -> Bool {
        cache?.core.lock.withLock { $0.layers[identity.layer.index].synthesis?.levels ?? 0 > identity.tile.level }
            ?? true
    }

    private func checkLedger() {
        if scheduler.pendingTimers > 1 { problems.append("\(scheduler.pendingTimers) timers are pending") }
        guard let cache else { return }
        let (used, limit, isOverLimit, breaches) = cache.core.lock.withLock {
            (
                $0.pool.committedBytes, $0.pool.ledger.limit, $0.pool.isOverLimit,
                $0.pool.counters.limitBreaches
            )
        }
        if breaches > 0 || (used > limit && !isOverLimit) { problems.append("\(used) bytes of \(limit)") }
    }

    private func finish() {
        isEnding = true
        faults.calm()
        letGo()
        if let cache, !isOver {
            for layer in layers { layer.own.unpin() }
            cache.byteLimit = .bytes(fullLimit)
        }
        let isPinned = cache?.core.read { state in
            var isPinned = !state.pins.isEmpty
            state.pool.table.forEach { isPinned = isPinned || state.pool.table[$0].flags.contains(.pinned) }
            return isPinned
        }
        if !isOver, isPinned == true { problems.append("tiles are pinned without a pin") }
        let isAtRest = scheduler.settle(atMost: isTight ? 1000 : 20_000)
        // Tiles without room are requested again and again.
        if !isAtRest, !isTight { return problems.append("it does not come to rest") }
        if !isOver, isAtRest {
            checkNeeds()
            checkRest()
        }
        if !isOver { shutDown() }
        for renderer in renderers { renderer.close() }
        guard scheduler.settle(atMost: 20_000) else {
            return problems.append("it does not come to rest after shutdown")
        }
        if cache?.shutdown(timeout: .zero) != true { problems.append("work is under way after the end") }
        let inFlight = cache?.statistics.loadsInFlight ?? 0
        if inFlight > 0 { problems.append("\(inFlight) loads are in flight after the end") }
        weak let core = cache?.core
        cache = nil
        layers = []
        if core != nil { problems.append("the cache outlives its last user") }
    }

    /// Views have been notified of all tiles that would improve their last frames.
    private func checkCalls() {
        for (number, renderer) in renderers.enumerated() {
            guard let view = renderer.view else { continue }
            let budget = view.promotionBudget
            view.promotionBudget = PromotionBudget(maximumTiles: 0)
            let now = FrameLack(view.frame())
            view.promotionBudget = budget
            if renderer.last.isWorse(than: now) {
                problems.append("view \(number) was not told: it drew \(renderer.last), now it is \(now)")
            }
        }
    }

    /// Conditions when no work is left.
    private func checkRest() {
        checkCalls()
        if scheduler.chance(50) { checkPlans() }
    }

    /// A plan that was not requested loads no needed or pinned tile and, unless room is short, changes no view's needs.
    /// Whatever makes that possible requests a plan.
    private func checkPlans() {
        // The frames of the check before may have given something back.
        guard let cache, !isOver, problems.isEmpty, scheduler.settle(atMost: 400) else { return }
        func wanted() -> Set<TileKey> {
            cache.core.lock.withLock { state in
                let needs = state.views.compactMap { $0?.model.layers.flatMap(\.needs.tiles) }.joined()
                return Set(needs).union(state.pool.pinsToLoad)
            }
        }
        func lacking(of tiles: Set<TileKey>) -> Set<TileKey> {
            cache.core.lock.withLock { state in
                tiles.filter {
                    let number = state.pool.table.find($0)
                    guard number != .none else { return true }
                    let entry = state.pool.table[number]
                    return !entry.residency.isDecoded && !entry.flags.contains(.absent)
                }
            }
        }
        func tableBytes() -> Int { cache.core.read { $0.pool.ledger.accountBytes } }
        let (needed, bytes) = (wanted(), tableBytes())
        let before = lacking(of: needed)
        guard !before.isEmpty else { return }
        let state = cache.core.lock.withLock { planState(of: before, $0) }
        cache.core.perform { $0.pool.noteDemand() }
        guard scheduler.settle(atMost: 400) else { return }
        let gained = before.subtracting(lacking(of: before))
        // A later plan, or policies that it has reset, may leave room for a tile.
        if !gained.isEmpty, tableBytes() >= bytes {
            problems.append("no effect requested the plan that brings \(gained.map(\.coordinate)): \(state)")
        }
        // Where room is short, tables that grow between two plans may make a level too fine.
        let isChanged = wanted().union(before) != needed
        if isChanged, !isTight { problems.append("no effect requested the plan that changes what is needed") }
    }

    /// What a plan has to do with tiles, for messages.
    private func planState(of tiles: Set<TileKey>, _ state: borrowing CoreState) -> String {
        let queue = state.pool.queue
        let entries = tiles.map { tile -> String in
            let number = state.pool.table.find(tile)
            guard number != .none else { return "\(tile.coordinate): no entry" }
            let entry = state.pool.table[number]
            let wait = entry.retryAt == .max ? "never" : "\(entry.retryAt - scheduler.now)"
            let isPlanned = queue.plan.entries.contains { $0.key == tile }
            let place = isPlanned ? "planned" : "not planned"
            return "\(tile.layer):\(tile.coordinate) \(entry.residency) \(entry.flags.rawValue) \(wait) \(place)"
        }
        let due = state.due.earliest == .max ? "never" : "\(state.due.earliest - scheduler.now)"
        let unmet = "\(queue.unmet), ended \(queue.hasEnded), rest \(queue.rest), due \(due)"
        let loads = state.pool.loads.all.map { _, load -> String in
            let key = state.pool.table[load.entry].key
            let isWanted = load.wantedEpoch == queue.epoch
            return "\(key.layer):\(key.coordinate) \(load.reason) wanted \(isWanted) stuck \(load.isWrittenOff)"
        }
        return "\(entries.sorted()); \(unmet); over \(state.pool.isOverLimit), loads \(loads)"
    }

    /// Every wanted tile has been answered.
    private func checkNeeds() {
        guard let cache else { return }
        let loads = cache.statistics.loadsInFlight
        if loads > 0 { problems.append("\(loads) loads are in flight at rest") }
        let (workers, stuck) = cache.core.read { ($0.workers, $0.pool.layers.map(\.stuckDecodes)) }
        let isWhole =
            workers.idle.count == cache.core.configuration.workers && workers.surplus == 0
            && workers.blocked(before: .max) == 0
        let isMaking = cache.core.read { !$0.synthesis.sparesInUse.isEmpty || !$0.synthesis.waiters.isEmpty }
        if isMaking { problems.append("scratch memory is in use at rest") }
        if !cache.core.read({ $0.requests.isEmpty }) { problems.append("requests are kept at rest") }
        if !isWhole || !workers.decodes.isEmpty || stuck.contains(where: { $0 != 0 }) {
            problems.append("at rest, with stuck decoders \(stuck): \(workers)")
        }
        let isShort = cache.core.lock.withLock { $0.pool.queue.lacksRoomForNeeds } || isTight
        for (number, renderer) in renderers.enumerated() where renderer.last.missing > 0 && !isShort {
            problems.append("view \(number) lacks \(renderer.last.missing) tiles at rest")
        }
    }
}
