import TestSupport
import Testing

@testable import TileCache

/// Random traffic of workers against a plain record.
@Suite struct WorkerRosterTests {
    private struct Call {
        var start: Int64
        var layer: Int?
        var isReplaced = false
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func noWorkerIsLostAndNoneIsTooMany(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var roster = WorkerRoster(count: 3, spares: 9)
        var calls: [WorkerID: Call] = [:]
        for step in 0..<3000 {
            let now = Int64(step)
            switch random.below(4) {
            case 0, 1:
                let most = random.below(4)
                let idle = roster.idle
                let taken = roster.takeIdle(atMost: most)
                #expect(taken == idle.suffix(most))
                for worker in taken {
                    let layer = random.oneIn(2) ? random.below(5) : nil
                    if let layer {
                        roster.beginDecode(worker, layer: layer, at: now)
                    } else {
                        roster.beginCall(worker, at: now)
                    }
                    calls[worker] = Call(start: now, layer: layer)
                }
            case 2:
                let busy = calls.keys.sorted { $0.number < $1.number }
                guard let worker = busy.first(where: { _ in random.oneIn(3) }) else { continue }
                let call = calls.removeValue(forKey: worker)!
                let layer = roster.endDecode(worker)
                #expect(layer == (call.isReplaced ? call.layer : nil))
                if call.isReplaced, call.layer == nil { roster.noteLate(1) }
                roster.endCall(worker)
                let isTooMany = roster.surplus > 0
                let retires = roster.retires(worker)
                #expect(retires == isTooMany)
                if !retires { roster.rest(worker) }
            default:
                let limit = random.below(roster.spare.count + 1)
                let time = now - Int64(random.below(20))
                if random.oneIn(2) {
                    let old = calls.filter { $0.value.layer != nil && !$0.value.isReplaced && $0.value.start < time }
                    let layers = roster.replaceDecodes(startedBefore: time, atMost: limit)
                    #expect(layers.count == min(limit, old.count))
                    for (worker, decode) in roster.decodes where decode.isReplaced { calls[worker]?.isReplaced = true }
                    #expect(old.count { calls[$0.key]!.isReplaced } == layers.count)
                    roster.replace(layers.count)
                } else if limit > 0, let load = calls.first(where: { $0.value.layer == nil && !$0.value.isReplaced }) {
                    calls[load.key]?.isReplaced = true
                    roster.replace(1)
                }
            }
            let active = calls.values.count { !$0.isReplaced }
            #expect(roster.idle.count + active - roster.surplus == 3)
            #expect(Set(roster.idle + roster.spare + calls.keys).count == 12)
            #expect(roster.idle.count + roster.spare.count + calls.count == 12)
            #expect(roster.blocked(before: now - 5) == calls.values.count { $0.start < now - 5 })
            let decodes = calls.values.filter { $0.layer != nil && !$0.isReplaced }
            #expect(roster.oldestDecode == decodes.map(\.start).min())
        }
    }
}

/// Nested calls on several threads against a list of them.
@Suite struct RunningCallbacksTests {
    @Test(arguments: [UInt64(1), 2, 3]) func threadsAreWithinUntilTheirLastCallEnds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var running = RunningCallbacks(slowTime: 0)
        var calls: [UInt64] = []
        for _ in 0..<2000 {
            let thread = UInt64(random.below(4))
            if random.oneIn(2), let index = calls.firstIndex(of: thread) {
                calls.remove(at: index)
                running.leave(thread)
            } else if calls.count < 12 {
                calls.append(thread)
                running.enter(thread)
            }
            for thread in 0..<UInt64(4) { #expect(running.isWithin(thread) == calls.contains(thread), "seed \(seed)") }
        }
    }

    @Test func callsThatTakeLongerThanTheLimitAreSlow() {
        var running = RunningCallbacks(slowTime: 10)
        let first = running.begin(at: 100)
        #expect(running.figures(at: 110) == (0, 10) && running.figures(at: 111) == (1, 11))
        running.end(first, at: 111)
        let second = running.begin(at: 200)
        running.end(second, at: 210)
        #expect(running.figures(at: 300) == (1, 11))
    }
}
