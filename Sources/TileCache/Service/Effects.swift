import Dispatch

/// Effects of state changes. Declared under the lock at their cause, carried out after its release.
///
/// `CacheCore.perform` is the only way to change the state, so that none is forgotten.
struct Effects: Sendable {
    /// Whether to make a plan.
    var plans = false
    /// Maximum idle workers to wake.
    var wakes = 0
    /// Workers that continue.
    var workers: [WorkerID] = []
    /// Requests to cancel.
    var unwanted: [TileRequest] = []
    /// Handlers of views to call.
    var calls: [ReadyCall] = []
    /// Ended requests of hosts, whose handlers are to be called; also after shutdown.
    var fetchEnds: [FetchDelivery] = []
    /// Tiles that stores wait for in vain.
    var lostSaves: [LostSave] = []
    var setsTimer = false
    /// Memory to decommit, slots to populate, and the regions by kind.
    var decommits: [LeavingMemory] = []
    var fresh: [MemoryRange] = []
    var regions: [CoreState.Region] = []
    /// Address ranges without a use. Their last references go outside of the lock.
    var unmapped: [MemoryRegion] = []

    var queuesSteps: Bool { plans || setsTimer || !workers.isEmpty || !calls.isEmpty || !fetchEnds.isEmpty }
}

/// Call of a view's handler.
struct ReadyCall: Sendable {
    var place: Int
    var serial: Int
    var queue: DispatchQueue
}

extension CoreState {
    /// Whether there may be effects to drain.
    var hasEffects: Bool { declared.exists || pool.hasEffects || pool.hasDemand || pool.hasSupply }

    /// Drains the declared effects and selects the workers to wake.
    mutating func drainEffects(now: () -> Int64) -> Effects {
        if pool.hasSupply, !layers.removed.isEmpty { freeRemovedLayers(now: now()) }
        let ofPool = pool.takeEffects()
        workers.noteLate(ofPool.lateWorkers)
        noteDrawn(ofPool.drawn)
        if !ofPool.superseded.isEmpty { effects.unwanted += requests.all(where: ofPool.superseded.contains) }
        let plans = takesPlan(now: now)
        if ofPool.keepsMore {
            for place in views.indices where views[place]?.sparesRoom == true { callBack(view: place) }
        }
        if ofPool.replanAt != .max, !isShutDown, due.askPlan(at: ofPool.replanAt) { effects.setsTimer = true }
        var drained = declared.take()
        drained.decommits = pool.takePendingDecommits()
        drained.fresh = ofPool.fresh
        if !drained.decommits.isEmpty || !drained.fresh.isEmpty { drained.regions = regions() }
        guard !isShutDown else {
            (drained.plans, drained.calls, drained.setsTimer) = (false, [], false)
            return drained
        }
        if drained.wakes > 0 {
            drained.workers += workers.takeIdle(atMost: min(drained.wakes, pool.queue.rest + saves.readyCount))
        }
        // Requests before the plan is made are merged.
        drained.plans = plans && planning.queue()
        return drained
    }

    /// Whether another plan would help: the demand has changed, or the supply of what the plan was refused. Here alone
    /// it is decided.
    private mutating func takesPlan(now: () -> Int64) -> Bool {
        let (hasDemand, supply) = (pool.takeDemand(), pool.takeSupply())
        return hasDemand || (supply.map { asksForSupply(of: $0, now: now) } ?? false)
    }

    /// Calls the handlers of views that would draw a part of a ready tile.
    ///
    /// - Parameter drawing: View that needs no call. Default: nil.
    mutating func noteReady(_ key: TileKey, except drawing: Int? = nil) {
        for place in views.indices where place != drawing {
            if views[place]?.draws(key, pool: pool) == true { callBack(view: place) }
        }
    }

    /// Calls the handlers of views that should lease other fallbacks, if nothing under way decides about the room.
    mutating func settleRoom() {
        guard pool.isRoomSettled else { return }
        if pool.queue.lacksRoomForNeeds { askForRoom() } else { returnRoom() }
    }

    /// Calls the handlers of views whose next frame may lease less.
    private mutating func askForRoom() {
        for place in views.indices where views[place]?.takesRoom(in: pool) == true { callBack(view: place) }
    }

    /// Calls the handlers of views whose next frame may lease fallbacks again, since nothing lacks room any more.
    private mutating func returnRoom() {
        for place in views.indices where views[place]?.sparesRoom == true {
            guard views[place]?.awaitsRoom(in: pool) == false else { continue }
            views[place]?.spared = RoomLack()
            callBack(view: place)
        }
    }

    /// Declares the call of a view's handler, unless it has none or one is pending.
    mutating func callBack(view place: Int) {
        guard let serial = views[place]?.serial, views[place]?.callback != nil, views[place]?.isCallbackQueued == false,
            let queue = views[place]?.callbackQueue
        else { return }
        views[place]?.isCallbackQueued = true
        effects.calls.append(ReadyCall(place: place, serial: serial, queue: queue))
    }
}

extension CacheCore {
    /// Changes the state under the lock, then carries out the effects. Memory is decommitted and populated first, before
    /// `body`'s caller writes to granted memory.
    @inline(__always)
    func perform<Result: Sendable>(_ body: (inout CoreState) -> Result) -> Result {
        if let interleave = executor.interleave { interleave() }
        var effects: Effects?
        let result = lock.withLock { state in
            state.noteAcquisition()
            let result = body(&state)
            if state.hasEffects { effects = state.drainEffects(now: clock) }
            return result
        }
        if let effects { carryOut(effects) }
        return result
    }

    @inline(__always)
    func read<Result: Sendable>(_ body: (borrowing CoreState) -> Result) -> Result {
        lock.withLock { state in
            state.noteAcquisition()
            return body(state)
        }
    }

    private func carryOut(_ effects: Effects) {
        if !effects.decommits.isEmpty {
            decommit(effects.decommits, of: effects.regions)
            perform { $0.pool.finishDecommits(effects.decommits) }
        }
        // Each of these slots belongs to the caller, which writes to it afterwards.
        for slot in effects.fresh {
            let (memory, bytes) = effects.regions[Int(slot.slotClass - MemoryRange.firstKind)]
            memory.populate(offset: Int(slot.number) * bytes, byteCount: bytes)
        }
        for request in effects.unwanted { cancel(request) }
        for lost in effects.lostSaves { giveUp(lost) }
        // A forked child process has no threads.
        guard !isForked, effects.queuesSteps else { return }
        // Dispatch may start threads for these steps, also for those of other queues.
        BatchThread.pause { queueSteps(effects) }
    }

    private func queueSteps(_ effects: Effects) {
        for worker in effects.workers {
            executor.run(workerQueues[worker.number]) { [weak self] in BatchThread.run { self?.work(as: worker) } }
        }
        if effects.plans { executor.run(coordinator) { [weak self] in BatchThread.run { self?.makePlan() } } }
        if effects.setsTimer { executor.run(coordinator) { [weak self] in self?.setTimer() } }
        for end in effects.fetchEnds { executor.run(end.queue) { [self] in deliver(end) } }
        for call in effects.calls {
            executor.run(call.queue) { [weak self] in self?.callBack(call) }
        }
    }

    /// Decommits memory, neighbours in one call.
    private func decommit(_ leaving: [LeavingMemory], of regions: [CoreState.Region]) {
        let ranges = leaving.map(\.range).sorted { ($0.slotClass, $0.number) < ($1.slotClass, $1.number) }
        var first = 0
        while first < ranges.count {
            var last = first
            while last + 1 < ranges.count, ranges[last + 1].slotClass == ranges[first].slotClass,
                ranges[last + 1].number == ranges[last].number + 1
            {
                last += 1
            }
            let (memory, bytes) = regions[Int(ranges[first].slotClass - MemoryRange.firstKind)]
            memory.decommit(offset: Int(ranges[first].number) * bytes, byteCount: (last - first + 1) * bytes)
            first = last + 1
        }
    }

    /// Calls a request's cancel handler, on a queue of its own because it may block.
    private func cancel(_ request: TileRequest) {
        guard let handler = request.noteUnwanted() else { return }
        // Counted from now on, so that shutdown waits for queued handlers too.
        activity.enter()
        executor.run(cancellations) { [self] in
            enterActivity()
            handler()
            leaveActivity()
            activity.leave()
        }
    }

    /// Calls a view's handler, unless the view is gone. A handler set meanwhile may have another queue.
    private func callBack(_ call: ReadyCall) {
        enterActivity()
        defer { leaveActivity() }
        let callback = perform { state -> (@Sendable () -> Void)? in
            guard !state.isShutDown, state.views[call.place]?.serial == call.serial else { return nil }
            state.views[call.place]?.isCallbackQueued = false
            guard state.views[call.place]?.callbackQueue === call.queue else {
                state.callBack(view: call.place)
                return nil
            }
            return state.views[call.place]?.callback
        }
        if let callback { time(callback) }
    }
}
