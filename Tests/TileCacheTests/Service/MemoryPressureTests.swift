import Dispatch
import Foundation
import Testing

@testable import TileCache

/// The system's memory signals and a cache's reactions, from files as kernels write them.
@Suite struct MemoryPressureTests {
    @Test(arguments: [
        ("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 0.0, 0.0),
        ("some avg10=12.53 avg60=3.01 avg300=0.80 total=91233\nfull avg10=4.20 avg60=1 avg300=0 total=5\n", 12.53, 4.2),
        ("some avg10=100.00 avg60=99.00 avg300=9.00 total=18446744073709551615\n", 100, 0),
        ("full avg60=9.00\nsome avg10=\nsome avg10=nan\nsome avg10=-3\nsome avg10=1e999\n\0\n", 0, 0),
        ("", 0, 0),
    ]) func pressureFilesAreRead(text: String, some: Double, all: Double) {
        var readings = MemoryReadings()
        readings.takePressure(text)
        #expect(readings.some == some && readings.all == all)
    }

    private func take(_ readings: inout MemoryReadings, _ version: ControlGroups.Version, _ files: [String: String]) {
        readings.takeGroup(version) { files[$0] }
    }

    @Test func theLeastLimitCounts() {
        var readings = MemoryReadings()
        for text in ["max\n", "", "-5\n", "1 2\n", "99999999999999999999\n"] {
            take(&readings, .two, ["memory.max": text])
            take(&readings, .one, ["memory.limit_in_bytes": text])
        }
        // What version 1 writes for none, on pages of 4 and 64 KiB.
        for text in ["9223372036854771712\n", "9223372036854710272\n"] {
            take(&readings, .one, ["memory.limit_in_bytes": text, "memory.stat": "hierarchical_memory_limit \(text)"])
        }
        #expect(readings.limit == nil)
        take(&readings, .two, ["memory.max": "536870912\n", "memory.high": "max\n"])
        #expect(readings.limit == 536_870_912)
        take(&readings, .two, ["memory.max": "1073741824\n", "memory.high": "268435456\n"])
        take(&readings, .two, ["memory.max": "1073741824\n"])
        #expect(readings.limit == 268_435_456 && readings.use == 0)
        take(&readings, .one, ["memory.limit_in_bytes": "134217728\n"])
        #expect(readings.limit == 134_217_728)
        // That of a group around it which is not visible.
        let text = "cache 5\nhierarchical_memory_limit 67108864\nhierarchical_memsw_limit 9223372036854771712\n"
        take(&readings, .one, ["memory.limit_in_bytes": "134217728\n", "memory.stat": text])
        #expect(readings.limit == 67_108_864)
    }

    /// Use without file contents that can be dropped, in both versions: 200,000 on both lists, and others that cannot.
    @Test(arguments: [
        (84, 0.0, 0.0, MemoryPressureLevel.normal), (85, 0, 0, .warning), (94, 0, 0, .warning),
        (95, 0, 0, .critical), (120, 0, 0, .critical), (-10, 0, 0, .normal),
        (10, 9.99, 0, .normal), (10, 10, 0, .warning), (10, 80, 9.99, .warning), (10, 80, 10, .critical),
    ]) func levelsFollowFromUseAndStalls(percent: Int, some: Double, all: Double, level: MemoryPressureLevel) {
        let used = "\(percent * 10_000 + 200_000)\n"
        let lists = [("inactive_file", 50_000), ("active_file", 180_000)]
        let two = lists.map { "\($0) \($1)\n" }.joined() + "file_dirty 20000\nfile_writeback 10000\nshmem 90000\n"
        let one =
            "inactive_file 1\nactive_file 2\ndirty 3\n" + lists.map { "total_\($0) \($1)\n" }.joined()
            + "total_dirty 20000\ntotal_writeback 10000\ntotal_shmem 90000\n"
        for version in [ControlGroups.Version.one, .two] {
            var readings = MemoryReadings()
            let files =
                version == .two
                ? ["memory.max": "1000000\n", "memory.current": used, "memory.stat": "anon 5\nfile 300000\n" + two]
                : ["memory.limit_in_bytes": "1000000\n", "memory.usage_in_bytes": used, "memory.stat": one]
            take(&readings, version, files)
            readings.takePressure("some avg10=\(some) avg60=0 total=1\nfull avg10=\(all) avg60=0 total=1\n")
            #expect(readings.level(since: nil) == level)
        }
    }

    @Test func withoutALimitUseSaysNothing() {
        var readings = MemoryReadings()
        take(&readings, .two, ["memory.max": "max\n", "memory.current": "999999999999\n"])
        #expect(readings.level(since: nil) == .normal)
    }

    /// A process that reads a file larger than its group again and again: the group is full of file contents, recently
    /// used or not, and reclaims them at its limit all the time. Nothing waits for memory.
    @Test func fileContentsAreNoPressure() {
        var earlier: MemoryReadings.Events?
        for (second, active) in [0, 10, 70, 10, 60].enumerated() {
            var readings = MemoryReadings()
            let files = [
                "memory.max": "104857600\n", "memory.current": "104800000\n",
                "memory.stat": "anon 26214400\nactive_file \(active << 20)\ninactive_file \((74 - active) << 20)\n",
                "memory.events.local": "low 0\nhigh 0\nmax \(second * 6615)\noom 0\noom_kill 0\n",
            ]
            take(&readings, .two, files)
            readings.takePressure("some avg10=0.99 avg60=0 total=1\nfull avg10=0.50 avg60=0 total=1\n")
            #expect(readings.level(since: earlier) == .normal)
            earlier = readings.events
        }
    }

    /// Events since the last reading: a reclaim makes a short stall count, a killed process is critical.
    @Test(arguments: [
        ("", "high 1", 1.0, MemoryPressureLevel.warning), ("", "max 1", 1, .warning),
        ("", "max 1", 0.99, .normal),
        ("max 3", "max 3", 9.99, .normal), ("high 7\nmax 3", "high 7\nmax 4", 2, .warning),
        ("oom 1", "oom 1", 0, .normal),
        ("oom 1", "oom 2", 0, .critical), ("", "oom_kill 1", 0, .critical), ("max 9", "max 0", 9.99, .normal),
    ]) func eventsMakeStallsCount(before: String, after: String, some: Double, level: MemoryPressureLevel) {
        func readings(_ events: String) -> MemoryReadings {
            var readings = MemoryReadings()
            readings.some = some
            // The other file has the events of groups within.
            take(&readings, .two, ["memory.events.local": events, "memory.events": "max 999\noom 999\n"])
            return readings
        }
        #expect(readings(after).level(since: readings(before).events) == level)
        // The first reading has nothing to compare with.
        #expect(readings(after).level(since: nil) == .normal)
    }

    @Test func eventsOfVersionOneAreCounted() {
        var readings = MemoryReadings()
        let files = ["memory.failcnt": "12\n", "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"]
        take(&readings, .one, files)
        take(&readings, .one, files)
        #expect(readings.events == .init(reclaims: 24, failures: 4))
        // Without the file of local events, those of a group around it are other groups'.
        readings = MemoryReadings()
        for isOwn in [true, false] {
            readings.takeGroup(.two, isOwn: isOwn) { $0 == "memory.events" ? "high 5\noom 1\n" : nil }
        }
        #expect(readings.events == .init(reclaims: 5, failures: 1))
    }

    @Test func theRuleGivesWayAtOnceAndComesBackInSteps() {
        let second: Int64 = 1_000_000_000
        var rule = PressureRule()
        rule.note(.normal, now: 0)
        #expect(rule.share == 1)
        rule.note(.warning, now: 10 * second)
        #expect(rule.share == 0.5)
        rule.note(.critical, now: 11 * second)
        #expect(rule.share == 0.25)
        // A lesser warning restores nothing and evicts nothing more.
        rule.note(.warning, now: 30 * second)
        rule.note(.normal, now: 35 * second - 1)
        #expect(rule.share == 0.25)
        rule.note(.normal, now: 35 * second)
        #expect(rule.share == 0.375)
        rule.note(.normal, now: 40 * second - 1)
        #expect(rule.share == 0.375)
        for time in [40, 45, 50] { rule.note(.normal, now: Int64(time) * second) }
        #expect(rule.share == 1)
        #expect(rule.bytes(of: 1001) == 1001)
        // A clock that goes back delays the recovery and does not prevent it.
        rule.note(.warning, now: 100 * second)
        rule.note(.normal, now: 3 * second)
        #expect(rule.share == 0.5 && rule.bytes(of: 1001) == 500 && rule.bytes(of: 1) == 1)
        rule.note(.normal, now: 8 * second)
        #expect(rule.share == 0.75)
    }

    @Test(
        arguments: [
            (8 << 30, nil, 512 << 20), (2 << 30, nil, 256 << 20), (64 << 30, 1 << 30, 128 << 20),
            (64 << 30, 128 << 20, 16 << 20), (64 << 30, 64 << 20, 16 << 20), (64 << 30, 20 << 20, 10 << 20),
            (64 << 30, 0, 1), (1 << 30, .max, 128 << 20),
        ] as [(Int, Int?, Int)]
    ) func theDefaultLimitRespectsTheContainers(physical: Int, container: Int?, bytes: Int) {
        #expect(ByteCount.automatic(physical: physical, container: container).bytes == bytes)
    }

    #if os(Linux)
        /// Files of a container with version 2 of control groups. Limits of the enclosing groups count, and what all
        /// processes in them use.
        @Test func theFilesOfAContainerAreRead() throws {
            let root = FileManager.default.temporaryDirectory.appending(
                path: "tilecache-\(UInt64.random(in: 0 ... .max))"
            )
            defer { try? FileManager.default.removeItem(at: root) }
            func write(_ text: String, to path: String) throws {
                let file = root.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try text.write(to: file, atomically: false, encoding: .utf8)
            }
            #expect(SystemMemory.readings(root: root.path) == MemoryReadings())
            try write("0::/pod/app\n", to: "proc/self/cgroup")
            try write("some avg10=1.50 avg60=0.00 avg300=0.00 total=9\n", to: "proc/pressure/memory")
            try write("max\n", to: "sys/fs/cgroup/pod/app/memory.max")
            try write("314572800\n", to: "sys/fs/cgroup/pod/app/memory.high")
            try write("209715200\n", to: "sys/fs/cgroup/pod/memory.max")
            try write("104857600\n", to: "sys/fs/cgroup/pod/app/memory.current")
            try write("104857600\n", to: "sys/fs/cgroup/pod/memory.current")
            try write("anon 1\ninactive_file 4857600\n", to: "sys/fs/cgroup/pod/app/memory.stat")
            try write("some avg10=3.25 total=1\nfull avg10=0.50 total=1\n", to: "sys/fs/cgroup/pod/app/memory.pressure")
            let readings = SystemMemory.readings(root: root.path)
            #expect(readings.limit == 209_715_200 && readings.use == 0.5)
            // The group's own stalls count, not the machine's.
            #expect(readings.some == 3.25 && readings.all == 0.5 && readings.level(since: nil) == .normal)
            try write("some avg10=90.00 total=9\nfull avg10=80.00 total=9\n", to: "proc/pressure/memory")
            func level() -> MemoryPressureLevel { SystemMemory.readings(root: root.path).level(since: nil) }
            #expect(level() == .normal)
            // Another process of the pod uses the most: 178 of 200 MiB are in use.
            try write("186646528\n", to: "sys/fs/cgroup/pod/memory.current")
            #expect(level() == .warning)
            try write("anon 1\nactive_file 20971520\n", to: "sys/fs/cgroup/pod/memory.stat")
            #expect(level() == .normal)
            // The group itself: 280 of 300 MiB.
            try write("298457600\n", to: "sys/fs/cgroup/pod/app/memory.current")
            #expect(level() == .warning)
            try write("1\n", to: "sys/fs/cgroup/pod/app/memory.current")
            // A group of version 1 with less, elsewhere; the stalls are those of the unified one.
            let two = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
            let one = "31 23 0:27 /host /memory rw - cgroup cgroup rw,memory\n"
            try write("0::/pod/app\n4:memory:/host/app\n", to: "proc/self/cgroup")
            try write(
                String(repeating: "1 1 0:1 / /x rw - tmpfs tmpfs rw\n", count: 2000) + two + one,
                to: "proc/self/mountinfo"
            )
            try write("130023424\n", to: "memory/app/memory.limit_in_bytes")
            try write("65011712\n", to: "memory/app/memory.usage_in_bytes")
            let other = SystemMemory.readings(root: root.path)
            #expect(other.limit == 130_023_424 && other.use == 0.5 && other.some == 3.25)
            #expect(ByteCount.automatic(physical: 64 << 30, container: other.limit).bytes == 16_777_216)
            let automatic = ByteCount.automatic(physical: 64 << 30, container: readings.limit)
            #expect(automatic.bytes == 26_214_400)
        }
    #endif

    @Test func thisMachineSaysSomething() {
        #expect(SystemMemory.physicalBytes > 0)
        #expect((1...512 << 20).contains(ByteCount.automatic.bytes))
    }
}

/// The same on a whole cache.
@Suite(.timeLimit(.minutes(45))) struct ServicePressureTests {
    @Test func pressureTrimsAndTheLimitComesBack() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(2))
        configuration.maximumByteLimit = .mebibytes(8)
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        for step in 0..<20 {
            view.update(ServiceSetup.viewport(500 + Double(step) * 60, 700))
            #expect(steps.reaches { view.frame().missingTileCount == 0 })
        }
        #expect(cache.statistics.memory.used.bytes > 1 << 20)
        cache.noteMemoryPressure(.warning)
        // Loads in flight and memory being decommitted stay counted until they end.
        #expect(steps.reaches { cache.statistics.memory.used.bytes <= 1 << 20 })
        #expect(cache.statistics.memory.limit.bytes == 1 << 20)
        #expect(cache.byteLimit == .mebibytes(2))
        // A limit that the renderer sets later is reduced in the same way.
        cache.byteLimit = .mebibytes(4)
        #expect(cache.statistics.memory.limit.bytes == 2 << 20)
        #expect(steps.reaches { cache.statistics.memory.limit.bytes == 4 << 20 })
        view.update(ServiceSetup.viewport(600, 700))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
    }

    /// One report is all that an application makes. The limit comes back by the cache's own timer, also at rest; what
    /// follows a report changes nothing, and a later report begins anew.
    @Test(arguments: [false, true]) func aReportExpires(isRepeated: Bool) throws {
        let steps = StepScheduler.calm()
        steps.takesTime = false
        let cache = try steps.cache(byteLimit: .mebibytes(64))
        let second: Int64 = 1_000_000_000
        let start = steps.now
        /// Limits in MiB, each with the seconds since the start from which it is in force.
        func limits(until end: Int64) -> [[Double]] {
            var found: [[Double]] = []
            for time in stride(from: steps.now, through: start + end * second, by: Int(second / 4)) {
                steps.spend(nanoseconds: time - steps.now)
                #expect(steps.runAll())
                if isRepeated { cache.noteMemoryPressure(.normal) }
                let limit = Double(cache.statistics.memory.limit.bytes) / 1_048_576
                if found.last?[1] != limit { found.append([Double(time - start) / 1e9, limit]) }
            }
            return found
        }
        cache.noteMemoryPressure(.critical)
        #expect(limits(until: 30) == [[0, 16], [5, 24], [10, 36], [15, 54], [20, 64]])
        #expect(steps.pendingTimers == 0)
        // A warning in a recovery puts off its next step, and takes nothing back.
        cache.noteMemoryPressure(.critical)
        #expect(limits(until: 36) == [[30, 16], [35, 24]])
        cache.noteMemoryPressure(.warning)
        #expect(limits(until: 60) == [[36, 24], [41, 36], [46, 54], [51, 64]])
        cache.noteMemoryPressure(.warning)
        #expect(limits(until: 80) == [[60, 32], [65, 48], [70, 64]])
        #expect(steps.pendingTimers == 0)
        cache.noteMemoryPressure(.warning)
        #expect(cache.shutdown() && steps.pendingTimers == 0)
    }

    /// A timer that is late, as after a computer's sleep, takes one step.
    @Test func aLateTimerTakesOneStep() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(64))
        cache.noteMemoryPressure(.critical)
        #expect(steps.runAll())
        steps.spend(nanoseconds: 3_600_000_000_000)
        #expect(steps.runAll())
        #expect(cache.statistics.memory.limit == .mebibytes(24))
        #expect(steps.reaches { cache.statistics.memory.limit == .mebibytes(64) })
    }

    #if os(Linux)
        @Test func aMonitorAsksAndEndsWithItsHolder() throws {
            let steps = StepScheduler.calm()
            let cache = try steps.cache(byteLimit: .mebibytes(2))
            let asked = DispatchSemaphore(value: 0)
            // Its own timer is real; its readings are taken to the cache's thread.
            var monitor: MemoryPressureMonitor? = MemoryPressureMonitor(of: cache, every: .milliseconds(1)) {
                asked.signal()
                return .normal
            }
            asked.wait()
            withExtendedLifetime(monitor) {}
            monitor = nil
            // What it noted last holds for its time: other reports are not ended with it.
            cache.noteMemoryPressure(.critical)
            #expect(cache.statistics.memory.limit.bytes == 512 << 10)
            #expect(steps.reaches { cache.statistics.memory.limit.bytes == 2 << 20 })
            #expect(cache.shutdown())
        }

        @Test func whatAMonitorReadsLowersTheLimit() throws {
            let cache = try TileCache(byteLimit: .mebibytes(2))
            let monitor = MemoryPressureMonitor(of: cache, every: .milliseconds(1)) { .critical }
            #expect(eventually { cache.statistics.memory.limit.bytes == 512 << 10 })
            withExtendedLifetime(monitor) {}
            #expect(cache.shutdown())
        }
    #endif
}
