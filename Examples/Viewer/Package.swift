// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A package of its own, so that users of TileCache never see SDL.
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
            pkgConfig: "sdl2",
            providers: [.apt(["libsdl2-dev"]), .brew(["sdl2"]), .yum(["SDL2-devel"])]
        ),
        .target(
            name: "ViewerKit",
            dependencies: [
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "DemoWorld", package: "TileCache"),
                .product(name: "TileSources", package: "TileCache"),
                .product(name: "CacheBenchKit", package: "TileCache"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tileviewer",
            dependencies: [
                "CSDL2", "ViewerKit",
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "CacheBenchKit", package: "TileCache"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ViewerKitTests",
            dependencies: [
                "ViewerKit",
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "CacheBenchKit", package: "TileCache"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
