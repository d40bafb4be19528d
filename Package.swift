// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "TileCache",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "TileCache", targets: ["TileCache"]),
        .library(name: "DemoWorld", targets: ["DemoWorld"]),
        .library(name: "CacheBenchKit", targets: ["CacheBenchKit"]),
        .executable(name: "cachebench", targets: ["cachebench"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4",
            pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"]), .yum(["lz4-devel"])]
        ),
        .target(name: "CTileKernels"),
        .target(
            name: "TileCache",
            dependencies: ["CLZ4", "CTileKernels"],
            swiftSettings: settings
        ),
        .target(name: "DemoWorld", dependencies: ["TileCache"], swiftSettings: settings),
        .target(
            name: "CacheBenchKit",
            dependencies: ["TileCache", "DemoWorld", "CLZ4"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "cachebench",
            dependencies: [
                "CacheBenchKit", "TileCache", "DemoWorld",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TileCacheTests",
            dependencies: ["TileCache", "CacheBenchKit", "DemoWorld", "CTileKernels", "CLZ4"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The C interface, of which Scripts/install makes libtilecache: the attribute that exports its functions came with 6.3.
#if compiler(>=6.3)
    package.products += [
        .library(name: "tilecache", type: .dynamic, targets: ["TileCacheC"]),
        .library(name: "tilecache-static", type: .static, targets: ["TileCacheC"]),
    ]
    package.targets += [
        .target(name: "CTileCache"),
        .target(name: "TileCacheC", dependencies: ["CTileCache", "TileCache"], swiftSettings: settings),
        .target(name: "CInterfaceChecks", dependencies: ["CTileCache"], path: "Tests/CInterfaceChecks"),
        .testTarget(
            name: "TileCacheCTests",
            dependencies: ["TileCache", "TileCacheC", "CTileCache", "CInterfaceChecks"],
            swiftSettings: settings
        ),
    ]
#endif
