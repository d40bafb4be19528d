// swift-tools-version: 6.2
import PackageDescription

// A separate package: libFuzzer provides main, so it links only with --sanitize=fuzzer. Scripts/fuzz builds and runs
// it.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "TileCache", path: "..")],
    targets: [
        .executableTarget(
            name: "FuzzTargets",
            dependencies: [
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "_CacheBenchKit", package: "TileCache"),
                .product(name: "PanTraces", package: "TileCache"),
                .product(name: "TileSources", package: "TileCache"),
                .product(name: "tilecache-static", package: "TileCache"),
            ],
            path: "FuzzTargets",
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    ],
    swiftLanguageModes: [.v6]
)
