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
            their price).
            """
    )
    var prefetchAllowance = Kind.priced

    @Option(
        help: "Price of a load that is never drawn, in misses, 0 or more. (default: by --effort, 0.125 at 0.5)",
        transform: { try parsed(number($0, 0...1e6), "a number from 0 to 1000000") }
    )
    var price: Double?

    @Option(
        help: "Maximum prefetches that ask the source within any minute. (default: none)",
        transform: { try parsed(whole($0, 0...1_000_000_000), "a whole number of 0 or more") }
    )
    var requestsPerMinute: Int?

    @Option(
        help: ArgumentHelp("The same in decoded bytes: 64MiB, 10MB. (default: none)", valueName: "size"),
        transform: { try parsed(QuantityText.bytes($0), "a size (64MiB, 10MB)") }
    )
    var bytesPerMinute: Int?

    func validate() throws {
        guard prefetchAllowance == .priced || (price == nil && requestsPerMinute == nil && bytesPerMinute == nil) else {
            throw ValidationError(
                "--price, --requests-per-minute and --bytes-per-minute need --prefetch-allowance priced, "
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
                    price: price,
                    requestsPerMinute: requestsPerMinute,
                    bytesPerMinute: bytesPerMinute.map { .bytes($0) }
                )
            )
        }
    }
}
