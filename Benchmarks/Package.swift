// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of TileCache never see what its benchmarks depend on.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TileCache", path: ".."),
        // Without its default traits: the counting of allocations needs a preloaded library.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "TileCacheBenchmarks",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "_CacheBenchKit", package: "TileCache"),
            ],
            path: "TileCacheBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        )
    ],
    swiftLanguageModes: [.v6]
)
