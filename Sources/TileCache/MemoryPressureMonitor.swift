import Dispatch
import Synchronization

/// Keeps a cache small while the system is short of memory, for as long as this object lives.
///
/// On Linux the process's control group (version 2: `memory.max`, `memory.high`, `memory.current`, `memory.pressure`)
/// and `/proc/pressure/memory` are read once a second; on Apple systems the system tells. A warning halves what the cache
/// may use, memory that is all but gone quarters it: the coldest tiles go at once, what is held when it is let go. When
/// the pressure is over, what it may use grows back in steps of a half, five seconds apart; when this object goes, it has
/// its whole limit back soon. A program that learns of pressure in another way calls
/// ``TileCache/noteMemoryPressure(_:)`` itself.
public final class MemoryPressureMonitor: @unchecked Sendable {
    // Dispatch's sources may be used from any thread, but are not declared so everywhere.

    /// How short of memory the system is.
    public enum Level: Int, Sendable, Hashable, Comparable {
        /// Not at all.
        case normal
        /// Memory should be given back where that is cheap.
        case warning
        /// Soon something will be ended.
        case critical

        /// Orders by urgency.
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    private let queue = DispatchQueue(label: "TileCache.pressure", qos: .utility)
    private let timer: any DispatchSourceTimer
    private let core: WeakCore
    #if canImport(Darwin)
        private let source: any DispatchSourceMemoryPressure
    #endif

    /// Begins to watch the system for a cache, which it does not keep alive.
    public convenience init(of cache: TileCache) {
        self.init(of: cache, every: .seconds(1)) { SystemMemory.readings().level }
    }

    /// - Parameter level: asked at each interval, on Linux.
    init(of cache: TileCache, every interval: DispatchTimeInterval, level: @escaping @Sendable () -> Level) {
        let core = WeakCore(cache.core)
        self.core = core
        timer = DispatchSource.makeTimerSource(queue: queue)
        #if canImport(Darwin)
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: [.normal, .warning, .critical],
                queue: queue
            )
            let current = Lock(Level.normal)
            source.setEventHandler { [unowned source] in
                let event = source.data
                let level: Level =
                    event.contains(.critical) ? .critical : event.contains(.warning) ? .warning : .normal
                current.withLock { $0 = level }
                core.value?.notePressure(level)
            }
            // Steps back take time, and the system tells only once.
            timer.setEventHandler { core.value?.notePressure(current.withLock { $0 }) }
            self.source = source
            source.activate()
        #else
            timer.setEventHandler { core.value?.notePressure(level()) }
        #endif
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(100))
        timer.activate()
    }

    deinit {
        timer.cancel()
        #if canImport(Darwin)
            source.cancel()
        #endif
        // After a reading that is under way.
        queue.async { [core] in core.value?.endPressure() }
    }

    private struct WeakCore: @unchecked Sendable {
        // Written once.
        private(set) weak var value: CacheCore?
        init(_ core: CacheCore) { value = core }
    }
}

extension TileCache {
    /// Says how short of memory the system is; ``MemoryPressureMonitor`` does it by itself. To be called again, once in a
    /// while, for as long as the cache has not come back to its limit.
    public func noteMemoryPressure(_ level: MemoryPressureMonitor.Level) { core.notePressure(level) }
}

extension CacheCore {
    /// Gives the whole limit back: nobody looks any more whether the pressure is over.
    func endPressure() {
        changeLimit { state in
            guard state.pressure.share < 1 else { return false }
            state.pressure = PressureRule()
            return true
        }
    }

    func notePressure(_ level: MemoryPressureMonitor.Level) {
        let now = clock()
        changeLimit { state in
            let before = state.pressure.share
            state.pressure.note(level, now: now)
            return state.pressure.share != before
        }
    }
}
