// swift-tools-version: 6.2
import PackageDescription

// Reads tiles of a source as fast as they come, for ranges.py, which compares other readers.
let package = Package(
    name: "Ranges",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "TileCache", path: "../..")],
    targets: [
        .executableTarget(
            name: "tilereader",
            dependencies: [
                .product(name: "TileCache", package: "TileCache"),
                .product(name: "TileSources", package: "TileCache"),
            ],
            path: "tilereader"
        )
    ],
    swiftLanguageModes: [.v6]
)
