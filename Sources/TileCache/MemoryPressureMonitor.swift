import Dispatch

/// Lowers a cache's limit in force under memory pressure, as long as this object exists.
///
/// On Linux it reads the process's control group and those around it once a second (version 1, version 2 or both, wherever
/// they are mounted); on Apple systems it receives the system's notifications. On Linux memory is short if the group's
/// processes wait for it 10 percent of the time (`memory.pressure`; the machine's figures if the group has none), or 1
/// percent while memory is reclaimed at a limit (`memory.events`), or if 85 percent of a limit are in use beside file
/// contents that can be dropped. It is critical if all processes wait 10 percent of the time, at 95 percent of a limit,
/// and after a process was killed for memory.
///
/// A warning halves the limit in force, critical pressure quarters it: the coldest tiles are evicted at once, leased ones
/// when they are released. After the pressure the limit grows back by half of its size at a time, five seconds apart.
/// This happens, too, if the object is released. A program that detects pressure by other means calls
/// ``TileCache/noteMemoryPressure(_:)``.
public final class MemoryPressureMonitor: @unchecked Sendable {
    // `@unchecked`: Dispatch's sources are thread-safe, but not declared so on every platform.

    private let queue = DispatchQueue(label: "TileCache.pressure", qos: .utility)
    private let timer: any DispatchSourceTimer
    private let core: WeakCore
    #if canImport(Darwin)
        private let source: any DispatchSourceMemoryPressure
    #endif

    /// Starts to watch the system for a cache, which it does not keep alive.
    public convenience init(of cache: TileCache) {
        let events = Lock<MemoryReadings.Events?>(nil)
        self.init(of: cache, every: .seconds(1)) {
            let readings = SystemMemory.readings()
            return events.withLock { earlier in
                defer { earlier = readings.events }
                return readings.level(since: earlier)
            }
        }
    }

    /// - Parameter level: Reads the level at each interval, on Linux.
    init(
        of cache: TileCache,
        every interval: DispatchTimeInterval,
        level: @escaping @Sendable () -> MemoryPressureLevel
    ) {
        let core = WeakCore(cache.core)
        self.core = core
        timer = DispatchSource.makeTimerSource(queue: queue)
        #if canImport(Darwin)
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: [.normal, .warning, .critical],
                queue: queue
            )
            let current = Lock(MemoryPressureLevel.normal)
            source.setEventHandler { [unowned source] in
                let event = source.data
                let level: MemoryPressureLevel =
                    event.contains(.critical) ? .critical : event.contains(.warning) ? .warning : .normal
                current.withLock { $0 = level }
                core.value?.notePressure(level)
            }
            // The limit returns in steps, but the system notifies only once.
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
    }

    private struct WeakCore: @unchecked Sendable {
        // Written once.
        private(set) weak var value: CacheCore?
        init(_ core: CacheCore) { value = core }
    }
}
