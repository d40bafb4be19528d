/// Metadata beside the tiles of a folder.
enum FolderMetadata {
    private static let jsonFiles = ["metadata.json", "tilejson.json", "tiles.json"]
    private static let largestFile = 1 << 20

    /// Reads the order of rows that a folder's metadata states, and the file that states it.
    ///
    /// - Parameter names: Names of the folder's files.
    static func rowOrder(of folder: String, names: [String]) -> (order: TileRowOrder, file: String)? {
        // Only sets whose rows are counted from the bottom have this file; `gdal2tiles --xyz` writes none.
        if names.contains("tilemapresource.xml") { return (.fromBottom, "tilemapresource.xml") }
        for file in jsonFiles where names.contains(file) {
            guard case .bytes(let bytes) = Files.read("\(folder)/\(file)", limit: largestFile) else { continue }
            let text = String(decoding: bytes.array.filter { $0 > 32 }, as: UTF8.self)
            if text.contains("\"scheme\":\"tms\"") { return (.fromBottom, file) }
            if text.contains("\"scheme\":\"xyz\"") { return (.fromTop, file) }
        }
        return nil
    }

    /// Describes a difference between the metadata's order of rows and the layout. `nil` if there is none.
    static func warning(_ folder: String, names: [String], layout: TileFolderLayout) -> String? {
        let isRead: TileRowOrder = layout.order == .tms ? .fromBottom : .fromTop
        guard let (order, file) = rowOrder(of: folder, names: names), order != isRead else { return nil }
        let place = order == .fromBottom ? "bottom" : "top"
        let other = TileFolderLayout(order == .fromBottom ? .tms : .xyz, isDoubled: layout.isDoubled)
        return "\(folder): \(file) says that row 0 is at the \(place), and it is read the other way round; "
            + "\(other):\(folder) reads it so"
    }
}
