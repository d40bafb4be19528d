// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of TileCache do not depend on the benchmark library.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TileCache", path: ".."),
        // No default traits: counting allocations needs a preloaded library.
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
