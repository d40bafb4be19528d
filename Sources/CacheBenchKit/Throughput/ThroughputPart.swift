extension Throughput {
    /// Parts that can be measured separately.
    public enum Part: String, CaseIterable, Sendable {
        /// The codec against LZ4 on unfiltered pixels and against copying them.
        case codec
        /// Storing to and fetching from the pool, against the codec alone.
        case pool
        /// Finding a resident tile, against `NSCache`.
        case lookup
        /// A frame of 40 resident tiles, with leases.
        case frame
        /// A plan of the default policy for a 4K view.
        case plan
        /// Lock acquisitions and eviction steps.
        case cost

        /// Names of its figures, with their units; per cent are better if they are higher.
        public var figureNames: [String] {
            switch self {
            case .codec:
                [
                    "compress, of LZ4 (%)", "decompress, of LZ4 (%)", "compress, of memcpy (%)",
                    "decompress, of memcpy (%)",
                ]
            case .pool: ["store, of the codec (%)", "fetch, of the codec (%)"]
            case .lookup: ["look-up (ns)", "NSCache, of that (%)", "two threads, of one (%)"]
            case .frame: ["frame (ns)", "update (ns)"]
            case .plan: ["mean (ns)", "p99 (ns)"]
            case .cost: ["lock, 100 frames (#)", "lock, 100 frames at rest (#)", "steps, 100 evictions (#)"]
            }
        }
    }

    /// Measures one part; comparisons measure both sides alternately.
    ///
    /// - Returns: An integer for each name of the part's figures, in their order, as benchmark libraries need.
    public func figures(of part: Part) throws -> [Int] {
        func percent(_ ratio: Double?) -> Int { Int(((ratio ?? 0) * 100).rounded()) }
        switch part {
        case .codec:
            let total = try CodecBenchmark(tiles()).run(rounds: rounds, scalingRounds: 0).codecTotal
            return [
                total.compressToRaw, total.decompressToRaw, total.compressToMemcpy, total.decompressToMemcpy,
            ].map(percent)
        case .pool:
            let report = try PoolBenchmark(tiles())?.run(rounds: rounds)
            return [percent(report?.storeToCodec), percent(report?.fetchToCodec)]
        case .lookup:
            let report = try LookupBenchmark().lookup(rounds: rounds)
            return [
                Int(report.nanoseconds.rounded()), percent(report.nsCacheNanoseconds / report.nanoseconds),
                percent(report.twoThreads),
            ]
        case .frame:
            let report = try LookupBenchmark().frame(rounds: rounds)
            return [report.microseconds, report.updateMicroseconds].map { Int(($0 * 1000).rounded()) }
        case .plan:
            let figures = try PlanBenchmark(frames: 600).run()
            return [figures.meanMicroseconds, figures.p99Microseconds].map { Int(($0 * 1000).rounded()) }
        case .cost:
            let figures = try CostBenchmark().run()
            return [figures.frames, figures.framesAtRest, figures.evictions]
        }
    }
}
