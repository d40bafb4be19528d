// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A separate package, so that users of TileSources do not depend on GDAL.
let package = Package(
    name: "GDALTiles",
    platforms: [.macOS(.v15)],
    products: [.library(name: "GDALTiles", targets: ["GDALTiles"])],
    dependencies: [.package(name: "TileCache", path: "../..")],
    targets: [
        .systemLibrary(
            name: "CGDAL",
            pkgConfig: "gdal",
            providers: [.apt(["libgdal-dev"]), .brew(["gdal"]), .yum(["gdal-devel"])]
        ),
        .target(
            name: "GDALTiles",
            dependencies: [
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "TileSources", package: "TileCache"),
                "CGDAL",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GDALTilesTests",
            dependencies: ["GDALTiles", "CGDAL"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
