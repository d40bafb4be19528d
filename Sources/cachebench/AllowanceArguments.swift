import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// What may be loaded ahead of need.
struct AllowanceArguments: ParsableArguments {
    /// Kind of the allowance.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case never, resident, priced
    }

    @Option(
        help: """
            What is loaded ahead of need: never (nothing), resident (only tiles that a store has) or priced (tiles worth \
            their price, which is by --effort).
            """
    )
    var prefetchAllowance = Kind.priced

    @Option(
        "Maximum prefetches that ask the source within any minute.",
        .whole(0...1_000_000_000),
        default: "none"
    )
    var requestsPerMinute: Int?

    @Option("The same in decoded bytes: 64MiB, 10MB.", .bytes("a size (64MiB, 10MB)"), default: "none", as: "size")
    var bytesPerMinute: Int?

    /// The first flag that is given; `nil` without one.
    var flag: String? {
        let flags = [
            ("--prefetch-allowance", prefetchAllowance != .priced),
            ("--requests-per-minute", requestsPerMinute != nil), ("--bytes-per-minute", bytesPerMinute != nil),
        ]
        return flags.first(where: \.1)?.0
    }

    func validate() throws {
        guard prefetchAllowance == .priced || (requestsPerMinute == nil && bytesPerMinute == nil) else {
            throw ValidationError(
                "--requests-per-minute and --bytes-per-minute need --prefetch-allowance priced, "
                    + "not \(prefetchAllowance.rawValue)"
            )
        }
    }

    var allowance: PrefetchAllowance {
        switch prefetchAllowance {
        case .never: .never
        case .resident: .resident
        case .priced:
            .priced(
                PrefetchTerms(
                    requestsPerMinute: requestsPerMinute,
                    bytesPerMinute: bytesPerMinute.map { .bytes($0) }
                )
            )
        }
    }
}
