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
        .library(name: "TileCacheConcurrency", targets: ["TileCacheConcurrency"]),
        .library(name: "TileScroll", targets: ["TileScroll"]),
        .library(name: "TileTextures", targets: ["TileTextures"]),
        .library(name: "PanTraces", targets: ["PanTraces"]),
        .library(name: "DemoWorld", targets: ["DemoWorld"]),
        // Only for the packages in Benchmarks, Fuzz and Examples/Viewer: nothing in it is public but what they call.
        .library(name: "_CacheBenchKit", targets: ["CacheBenchKit"]),
        .library(name: "TileSources", targets: ["TileSources"]),
        .library(name: "TileSharedStore", targets: ["TileSharedStore"]),
        .library(name: "TileDiskStore", targets: ["TileDiskStore"]),
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
            // Apple's systems have LZ4 in their Compression library.
            dependencies: [.target(name: "CLZ4", condition: .when(platforms: [.linux, .android])), "CTileKernels"],
            swiftSettings: settings
        ),
        .target(name: "TileCacheConcurrency", dependencies: ["TileCache"], swiftSettings: settings),
        .target(name: "TileScroll", dependencies: ["TileCache"], swiftSettings: settings),
        // Slots of textures on a graphics processor, and uploads to them.
        .target(name: "TileTextures", dependencies: ["TileCache"], swiftSettings: settings),
        .target(name: "PanTraces", dependencies: ["TileCache"], swiftSettings: settings),
        .target(name: "DemoWorld", dependencies: ["TileCache"], swiftSettings: settings),

        // Tiles from files and servers. Only TileSources needs these libraries, and what is built with it.
        .systemLibrary(
            name: "CTilePNG",
            pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"]), .brew(["libpng"]), .yum(["libpng-devel"])]
        ),
        .systemLibrary(
            name: "CTileJPEG",
            pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg-dev"]), .brew(["jpeg-turbo"]), .yum(["libjpeg-turbo-devel"])]
        ),
        .systemLibrary(
            name: "CTileWebP",
            pkgConfig: "libwebp",
            providers: [.apt(["libwebp-dev"]), .brew(["webp"]), .yum(["libwebp-devel"])]
        ),
        .systemLibrary(
            name: "CTileSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"]), .yum(["sqlite-devel"])]
        ),
        .systemLibrary(
            name: "CTileExpat",
            pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"]), .brew(["expat"]), .yum(["expat-devel"])]
        ),
        .systemLibrary(
            name: "CTileCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"]), .yum(["libcurl-devel"])]
        ),
        .systemLibrary(
            name: "CTileZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"]), .yum(["zlib-devel"])]
        ),
        .systemLibrary(
            name: "CTileTIFF",
            pkgConfig: "libtiff-4",
            providers: [.apt(["libtiff-dev"]), .brew(["libtiff"]), .yum(["libtiff-devel"])]
        ),
        .systemLibrary(
            name: "CTileOpenJPEG",
            pkgConfig: "libopenjp2",
            providers: [.apt(["libopenjp2-7-dev"]), .brew(["openjpeg"]), .yum(["openjpeg2-devel"])]
        ),
        // A tier that several processes share. Only TileSharedStore needs this library.
        .systemLibrary(
            name: "CTileMemcached",
            pkgConfig: "libmemcached",
            providers: [.apt(["libmemcached-dev"]), .brew(["libmemcached"]), .yum(["libmemcached-devel"])]
        ),
        .target(name: "TileSharedStore", dependencies: ["TileCache", "CTileMemcached"], swiftSettings: settings),
        .target(name: "CTileImages", dependencies: ["CTilePNG", "CTileJPEG", "CTileWebP"]),
        .target(
            name: "TileSources",
            dependencies: [
                "TileCache", "CTileImages", "CTileSQLite", "CTileExpat", "CTileCurl", "CTileZlib", "CTileTIFF",
                "CTileOpenJPEG",
            ],
            swiftSettings: settings
        ),
        // A tier below memory that outlives the process.
        .target(name: "TileDiskStore", dependencies: ["TileCache", "CTileSQLite"], swiftSettings: settings),
        .target(
            name: "CacheBenchKit",
            dependencies: ["TileCache", "TileTextures", "TileScroll", "PanTraces", "DemoWorld", "CLZ4"],
            swiftSettings: settings
        ),
        // Traces of access logs, tracks and tables, for cachebench alone.
        .target(name: "TraceImport", dependencies: ["PanTraces", "TileCache", "CTileExpat"], swiftSettings: settings),
        .executableTarget(
            name: "cachebench",
            dependencies: [
                "CacheBenchKit", "PanTraces", "TileCache", "DemoWorld", "TileSources", "TileDiskStore",
                "TileSharedStore", "TraceImport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        // What tests of several modules share.
        .target(name: "TestSupport", dependencies: ["TileCache"], path: "Tests/Support", swiftSettings: settings),
        .testTarget(
            name: "TileCacheTests",
            dependencies: ["TileCache", "TestSupport", "CTileKernels", "CLZ4"],
            swiftSettings: settings
        ),
        .testTarget(name: "DemoWorldTests", dependencies: ["DemoWorld", "TileCache"], swiftSettings: settings),
        .testTarget(
            name: "CacheBenchKitTests",
            dependencies: [
                "CacheBenchKit", "DemoWorld", "PanTraces", "TileCache", "TileTextures", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TileCacheConcurrencyTests",
            dependencies: ["TileCacheConcurrency", "TileCache"],
            swiftSettings: settings
        ),
        .testTarget(name: "TileScrollTests", dependencies: ["TileScroll", "TileCache"], swiftSettings: settings),
        .testTarget(
            name: "TileTexturesTests",
            dependencies: ["TileTextures", "TileCache", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(name: "PanTracesTests", dependencies: ["PanTraces", "TileCache"], swiftSettings: settings),
        .testTarget(
            name: "TraceImportTests",
            dependencies: ["TraceImport", "PanTraces", "TileCache"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TileDiskStoreTests",
            dependencies: ["TileDiskStore", "TileCache", "TestSupport", "CTileSQLite"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TileSharedStoreTests",
            dependencies: ["TileSharedStore", "TileCache", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(name: "CacheBenchTests", dependencies: ["cachebench"], swiftSettings: settings),
        .testTarget(
            name: "TileSourcesTests",
            dependencies: [
                "TileSources", "TileCache", "TileDiskStore", "CacheBenchKit", "PanTraces", "TestSupport", "CTileImages",
                "CTileSQLite", "CTilePNG", "CTileJPEG", "CTileWebP", "CTileZlib",
            ],
            exclude: ["Support/tile_server.py", "Support/http2_server.py", "Support/other_readers.py"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The C interface, of which Scripts/install makes libtilecache and libtilecache_sources: the attribute that exports its
// functions came with 6.3. No two products differ in case alone, which package tools and file systems may ignore.
#if compiler(>=6.3)
    package.products += [
        .library(name: "tilecache-dynamic", type: .dynamic, targets: ["TileCacheC"]),
        .library(name: "tilecache-static", type: .static, targets: ["TileCacheC"]),
        .library(name: "tilesources-dynamic", type: .dynamic, targets: ["TileSourcesC"]),
        .library(name: "tilesources-static", type: .static, targets: ["TileSourcesC"]),
    ]
    package.targets += [
        .target(name: "CTileCache"),
        .target(
            name: "TileCacheC",
            dependencies: ["CTileCache", "PanTraces", "TileCache", "TileTextures"],
            swiftSettings: settings
        ),
        .target(name: "CTileSources", dependencies: ["CTileCache"]),
        .target(
            name: "TileSourcesC",
            dependencies: [
                "CTileSources", "CTileCache", "TileCacheC", "TileCache", "TileSources", "TileDiskStore",
                "TileSharedStore",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CInterfaceChecks",
            dependencies: ["CTileCache", "CTileSources"],
            path: "Tests/CInterfaceChecks"
        ),
        .testTarget(
            name: "TileCacheCTests",
            dependencies: [
                "TileCache", "TileCacheC", "TileSourcesC", "TileSharedStore", "CTileCache", "CTileSources",
                "CInterfaceChecks",
            ],
            swiftSettings: settings
        ),
    ]
#endif

// Tests link the modules: the C libraries are linked by the release build alone.
if Context.environment["TILECACHE_SANITIZED"] != nil || Context.environment["TILECACHE_TESTING"] != nil {
    package.products.removeAll { $0.name.hasSuffix("-dynamic") || $0.name.hasSuffix("-static") }
}

// With a sanitizer, only what has threads or memory of its own is built, and the tests of that. "core", as in .ci/run:
// without what reads files and servers, the C interface and the bench.
if let kept = Context.environment["TILECACHE_SANITIZED"] {
    var left = [
        "cachebench", "CacheBenchTests", "DemoWorldTests", "TileScrollTests", "TileTexturesTests", "TraceImport",
        "TraceImportTests",
    ]
    if kept == "core" {
        left += [
            "TileSources", "TileSourcesTests", "TileSourcesC", "TileCacheC", "TileCacheCTests", "CInterfaceChecks",
            "CTileSources", "CTileCache", "CTileImages", "CacheBenchKit", "CacheBenchKitTests", "_CacheBenchKit",
            "DemoWorld", "TileScroll", "TileTextures",
        ]
    }
    package.targets.removeAll { left.contains($0.name) }
    package.products.removeAll { left.contains($0.name) }
}

// Set by Scripts/test, which optimises all else, TestSupport too. With a sanitizer, "core" is for one run: optimising its
// tests takes longer than they save.
if Context.environment["TILECACHE_TESTING"] != nil || Context.environment["TILECACHE_SANITIZED"] == "core" {
    for target in package.targets where target.isTest {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
    }
}
