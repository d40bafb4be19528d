// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A separate package, so that users of TileSources do not depend on OpenSlide.
let package = Package(
    name: "OpenSlideTiles",
    platforms: [.macOS(.v15)],
    products: [.library(name: "OpenSlideTiles", targets: ["OpenSlideTiles"])],
    dependencies: [.package(name: "TileCache", path: "../..")],
    targets: [
        .systemLibrary(
            name: "COpenSlide",
            pkgConfig: "openslide",
            providers: [.apt(["libopenslide-dev"]), .brew(["openslide"]), .yum(["openslide-devel"])]
        ),
        .target(
            name: "OpenSlideTiles",
            dependencies: [
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "TileSources", package: "TileCache"),
                "COpenSlide",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "OpenSlideTilesTests",
            dependencies: ["OpenSlideTiles", "COpenSlide"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
