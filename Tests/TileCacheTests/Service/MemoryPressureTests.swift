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

    @Test(
        arguments: [
            ("0::/user.slice/app.scope\n", ["/user.slice/app.scope", "/user.slice", ""]),
            ("0::/\n", [""]),
            ("12:memory:/docker/abc\n0::/docker/abc\n", ["/docker/abc", "/docker", ""]),
            ("0::/../../other\n", [""]),
            ("1:name=systemd:/x\n", []),
            ("", []),
        ] as [(String, [String])]
    ) func groupsAreFound(text: String, folders: [String]) {
        #expect(MemoryReadings.groupFolders(text) == folders.map { "/sys/fs/cgroup" + $0 })
    }

    @Test func theLeastLimitCounts() {
        var readings = MemoryReadings()
        func take(_ limits: String...) { readings.takeGroup(limits: limits, current: "", statistics: "") }
        take("max\n", "", "-5\n", "1 2\n", "99999999999999999999\n")
        #expect(readings.limit == nil)
        take("536870912\n", "max\n")
        take("1073741824\n", "268435456\n")
        take("1073741824\n")
        #expect(readings.limit == 268_435_456 && readings.use == 0)
    }

    @Test(arguments: [
        (84, 0.0, 0.0, MemoryPressureMonitor.Level.normal), (85, 0, 0, .warning), (94, 0, 0, .warning),
        (95, 0, 0, .critical),
        (10, 9.99, 0, .normal), (10, 10, 0, .warning), (10, 80, 9.99, .warning), (10, 80, 10, .critical),
    ]) func levelsFollowFromUseAndStalls(percent: Int, some: Double, all: Double, level: MemoryPressureMonitor.Level) {
        var readings = MemoryReadings()
        // A fifth of the limit is file pages that can be reclaimed.
        readings.takeGroup(
            limits: ["1000000\n"],
            current: "\(percent * 10_000 + 200_000)\n",
            statistics: "anon 5\nfile 300000\ninactive_file 200000\nactive_file 100000\n"
        )
        readings.takePressure("some avg10=\(some) avg60=0 total=1\nfull avg10=\(all) avg60=0 total=1\n")
        #expect(readings.level == level)
    }

    @Test func withoutALimitUseSaysNothing() {
        var readings = MemoryReadings()
        readings.takeGroup(limits: ["max\n"], current: "999999999999\n", statistics: "")
        #expect(readings.level == .normal)
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
            #expect(readings.some == 3.25 && readings.all == 0.5 && readings.level == .normal)
            // Another process of the pod uses the most: 178 of 200 MiB are in use.
            try write("186646528\n", to: "sys/fs/cgroup/pod/memory.current")
            #expect(SystemMemory.readings(root: root.path).level == .warning)
            try write("anon 1\ninactive_file 20971520\n", to: "sys/fs/cgroup/pod/memory.stat")
            #expect(SystemMemory.readings(root: root.path).level == .normal)
            // The group itself: 280 of 300 MiB.
            try write("298457600\n", to: "sys/fs/cgroup/pod/app/memory.current")
            #expect(SystemMemory.readings(root: root.path).level == .warning)
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
@Suite(.timeLimit(.minutes(15))) struct ServicePressureTests {
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
