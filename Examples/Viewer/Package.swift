// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A separate package, so that users of TileCache do not depend on SDL.
let package = Package(
    name: "Viewer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TileCache", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CSDL2",
            pkgConfig: "SDL2_ttf",  // which names SDL 2 itself
            providers: [.apt(["libsdl2-ttf-dev"]), .brew(["sdl2_ttf"]), .yum(["SDL2_ttf-devel"])]
        ),
        .systemLibrary(
            name: "CFontconfig",
            pkgConfig: "fontconfig",
            providers: [.apt(["libfontconfig-dev"]), .brew(["fontconfig"]), .yum(["fontconfig-devel"])]
        ),
        .systemLibrary(
            name: "CWebPAnimation",
            pkgConfig: "libwebpmux",  // which names libwebp itself; libwebpdemux lies beside it
            providers: [.apt(["libwebp-dev"]), .brew(["webp"]), .yum(["libwebp-devel"])]
        ),
        .target(name: "AnimatedWebP", dependencies: ["CWebPAnimation"], swiftSettings: settings),
        .target(
            name: "ViewerKit",
            dependencies: [
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "TileScroll", package: "TileCache"),
                .product(name: "TileTextures", package: "TileCache"),
                .product(name: "DemoWorld", package: "TileCache"),
                .product(name: "TileSources", package: "TileCache"),
                .product(name: "PanTraces", package: "TileCache"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tileviewer",
            dependencies: [
                "CSDL2", "CFontconfig", "AnimatedWebP", "ViewerKit",
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "TileDiskStore", package: "TileCache"),
                .product(name: "TileScroll", package: "TileCache"),
                .product(name: "TileTextures", package: "TileCache"),
                .product(name: "PanTraces", package: "TileCache"),
                .product(name: "_CacheBenchKit", package: "TileCache"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings,
            linkerSettings: [
                .linkedLibrary("GL", .when(platforms: [.linux])),
                .linkedFramework("OpenGL", .when(platforms: [.macOS])),
            ]
        ),
        .testTarget(
            name: "AnimatedWebPTests",
            dependencies: ["AnimatedWebP", "CWebPAnimation"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ViewerKitTests",
            dependencies: [
                "ViewerKit",
                .product(name: "_CacheBenchKit", package: "TileCache"),
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "TileDiskStore", package: "TileCache"),
                .product(name: "TileScroll", package: "TileCache"),
                .product(name: "TileTextures", package: "TileCache"),
                .product(name: "PanTraces", package: "TileCache"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
