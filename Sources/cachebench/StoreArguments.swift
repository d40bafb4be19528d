import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache
import TileDiskStore
import TileSharedStore

private let usualDiskLimit = 1 << 30

/// Flags for tiers below memory, under the real clock.
struct StoreArguments: ParsableArguments {
    @Option("Keep tiles in this folder, in real time; it is created if missing.", .text, as: "folder")
    var disk: String?

    @Option(
        "Limit of all files of --disk, 4MiB to 32TiB.",
        OptionValue("bytes with a unit, 4MiB to 32TiB (512MiB, 2GiB)") { text in
            QuantityText.bytes(text).flatMap { TileDiskStoreOptions.limits.contains($0) ? $0 : nil }
        },
        default: MemoryLimit.bytes(usualDiskLimit).description
    )
    var diskLimit: Int?

    @Option(
        "Share tiles through these memcached servers, in real time: HOST or HOST:PORT, separated by commas.",
        .text,
        as: "servers"
    )
    var shared: String?

    /// The folder of the disk store.
    var files: [String] { [disk].compactMap { $0 } }

    /// Whether there is any store.
    var isAny: Bool { disk != nil || shared != nil }

    func validate(clock: ReplayClock?) throws {
        if diskLimit != nil, disk == nil { throw ValidationError("--disk-limit is the limit of a --disk") }
        if isAny, clock == .virtual {
            throw ValidationError("--disk and --shared need --clock real: the virtual clock has --store")
        }
    }

    /// Names the stores in the options of a report.
    func apply(to options: inout ReplayOptions) {
        options.disk = disk
        options.diskLimit = disk.map { _ in diskLimit ?? usualDiskLimit }
        options.shared = shared
    }

    /// Opens the stores, nearest first.
    ///
    /// - Parameter writeBuffer: Write buffer of the disk store, as far as it may be that large. Default: the usual one.
    func open(writeBuffer: ByteCount? = nil) throws -> [any TileStore] {
        var stores: [any TileStore] = []
        if let disk {
            var options = TileDiskStoreOptions()
            if let writeBuffer { options.writeBuffer = min(max(writeBuffer, options.writeBuffer), .gibibytes(1)) }
            stores.append(
                try TileDiskStore(path: disk, byteLimit: .bytes(diskLimit ?? usualDiskLimit), options: options)
            )
        }
        if let shared { stores.append(try TileSharedStore(SharedServer.list(shared))) }
        return stores
    }
}

extension [any TileStore] {
    /// Has disk stores write what they have buffered. Others have no such call.
    func flush() { for case let disk as TileDiskStore in self { disk.flush() } }

    /// Message of a disk store's last operation that failed.
    var lastFailure: String? { lazy.compactMap { ($0 as? TileDiskStore)?.lastFailure }.first }
}

/// Flags for tiers below memory under the virtual clock.
struct TierArguments: ParsableArguments {
    @Option(
        """
        Tiers below memory under the virtual clock, nearest first: NAME=LATENCY or NAME=LATENCY:LIMIT, separated by \
        commas (disk=2ms:256MiB,shared=5ms).
        """,
        OptionValue("up to 8 tiers with different names (disk=2ms:256MiB,shared=5ms)") { virtualTiers($0) },
        default: "",
        as: "tiers"
    )
    var store: [VirtualTiers.Tier] = []

    @Flag(help: "Keep the contents of --store from trace to trace; otherwise each trace begins with empty tiers.")
    var warm = false

    func apply(to options: inout ReplayOptions) {
        options.tiers = store
        options.keepsTiers = warm
    }
}
