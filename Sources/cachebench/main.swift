import CacheBenchKit
import Foundation

var options = ReplayOptions()
var paths: [String] = []
var args = Array(CommandLine.arguments.dropFirst())
while !args.isEmpty {
    let a = args.removeFirst()
    switch a {
    case "--prefetch": options.prefetch = PrefetchKind(rawValue: args.removeFirst())!
    case "--eviction": options.eviction = EvictionKind(rawValue: args.removeFirst())!
    case "--memory-limit": options.memoryLimit = MemoryLimit(args.removeFirst())!
    case "--compressed-tier": options.compressedTier = args.removeFirst() == "on"
    case "--duration": options.duration = Quantity.duration(args.removeFirst())!
    case "--load-latency": options.loadLatency = Quantity.duration(args.removeFirst())!
    case "--clock": options.clock = ReplayClock(rawValue: args.removeFirst())!
    case "--speed": options.speed = Double(args.removeFirst())!
    case "--workers": options.workers = Int(args.removeFirst())!
    default: paths.append(a)
    }
}
let start = DispatchTime.now().uptimeNanoseconds
let result = try Replay(options).run(paths.map { path in { try ReplayInput(path: path, options: options) } })
for r in result.sources + [result.total] {
    print(
        r.trace.source,
        r.trace.name,
        "demands",
        r.demands.total,
        "hit",
        r.demands.hitRate ?? -1,
        "pan",
        r.demands.pan.hitRate ?? -1,
        "zoom",
        r.demands.zoom.hitRate ?? -1,
        "waste",
        r.loads.waste ?? -1,
        "loads",
        r.loads.started,
        "blank",
        r.coverage.blankPixelMilliseconds / 1e6,
        "fall",
        r.coverage.fallbackPixelMilliseconds / 1e6,
        "peak",
        r.memory.peakBytes,
        r.memory.byteLimit,
        r.memory.peakResidentGrowth ?? -1
    )
}
let took = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
print("took", took, "s; times real time:", result.total.trace.seconds / took)
if paths.isEmpty {
    let bench = try LookupBenchmark()
    print(bench.lookup(), bench.frame())
}
