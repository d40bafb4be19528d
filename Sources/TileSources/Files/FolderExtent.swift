import TileCache

/// Where a folder of tiles has any.
enum FolderExtent {
    /// Maximum files of a zoom that are listed, and folders.
    static let mostFiles = 4096

    /// The part of the world's square that the tiles of some zooms cover, with both axes from 0 to 1; `nil` if they are
    /// too many to tell, or none.
    ///
    /// A zoom with too many files does not enlarge it. Its outermost folders and one between, with up to
    /// ``mostFiles`` files each, have to lie in what the other zooms cover: otherwise these do not tell. The rest of such
    /// a zoom is taken to lie there too.
    static func part(of folder: String, _ zooms: [Int], _ layout: TileFolderLayout) -> PixelRect? {
        var covered: PixelRect?
        var samples: [PixelRect] = []
        for zoom in zooms {
            guard let listing = Listing(of: "\(folder)/\(zoom)", zoom: zoom, layout) else { return nil }
            guard let own = listing.part else { continue }
            if listing.isWhole { covered = covered?.union(own) ?? own } else { samples.append(own) }
        }
        guard let covered, samples.allSatisfy({ covered.union($0) == covered }) else { return nil }
        return covered
    }

    /// Tiles of one zoom.
    private struct Listing {
        /// What they cover; `nil` if there are none.
        private(set) var part: PixelRect?
        /// Whether these are all.
        private(set) var isWhole = true

        /// Fails if the folder cannot be listed, or has too many folders.
        init?(of folder: String, zoom: Int, _ layout: TileFolderLayout) {
            let numbers = 0...(1 << zoom) - 1
            guard let names = Files.names(in: folder, limit: mostFiles), names.count < mostFiles else { return nil }
            let outer = names.compactMap { TileFolderLayout.number($0, within: numbers) }.sorted()
            let side = 1 / Double(1 << zoom)
            func add(_ number: Int) -> Int {
                let files = Files.names(in: "\(folder)/\(number)", limit: mostFiles) ?? []
                for file in files {
                    guard let inner = layout.parts(ofFile: file, within: numbers)?.number else { continue }
                    let tile = layout.tile(folder: number, file: inner, zoom: zoom)
                    let (x, y) = (Double(tile.column) * side, Double(tile.row) * side)
                    let own = PixelRect(minX: x, minY: y, maxX: x + side, maxY: y + side)
                    part = part?.union(own) ?? own
                }
                return files.count
            }
            guard let first = outer.first, let last = outer.last else { return }
            var (count, listed): (Int, Set<Int>) = (0, [])
            for (place, number) in ([first, outer[outer.count / 2], last] + outer).enumerated()
            where (place < 3 || count < mostFiles) && listed.insert(number).inserted {
                count += add(number)
            }
            isWhole = count < mostFiles
        }
    }
}
