import TileCache

/// Tiles of a folder, found by names that have the numbers of a template's places.
struct FolderTree {
    struct Tile {
        var zoom: Int
        var column: Int
        /// From the top.
        var row: Int
        /// Within the folder, with the extension.
        var path: String
        var ending: String
    }

    /// Names in the folders of one zoom that are listed, and folders.
    static let mostNames = 4096
    /// Names that are listed if folders of zooms do not come first.
    static let mostMixedNames = 1 << 16

    /// Tiles found of each zoom, by column and row.
    private(set) var tiles: [Int: [Tile]] = [:]
    /// Zooms of which some tiles were not listed. Their first, last and middle folder were.
    private var partialZooms: Set<Int> = []
    /// Whether some folder has too many folders: then nothing is known of its last one.
    private var isUnknown = false
    private let zoomIsFirst: Bool
    private let template: TileTemplate
    private let root: String
    /// The template's parts by the folders of a path.
    private let components: [[TileTemplate.Part]]
    private let endings: Set<String>

    /// The parts of a template between slashes.
    private static func split(_ template: TileTemplate) -> [[TileTemplate.Part]] {
        var components: [[TileTemplate.Part]] = [[]]
        for part in template.parts {
            guard case .text(let text) = part else {
                components[components.count - 1].append(part)
                continue
            }
            for (index, piece) in text.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
                if index > 0 { components.append([]) }
                if !piece.isEmpty { components[components.count - 1].append(.text(String(piece))) }
            }
        }
        return components
    }

    /// Lists tiles.
    ///
    /// - Parameters:
    ///   - template: Paths in the folder, without their extension.
    ///   - root: The folder.
    ///   - endings: Extensions of the files, in lower case.
    init(_ template: TileTemplate, in root: String, endings: [String] = TileFolderLayout.extensions) {
        (self.template, self.root, self.endings) = (template, root, Set(endings))
        components = Self.split(template)
        let isFirst = components[0].allSatisfy { part in
            switch part {
            case .text: true
            case .number(let number): number.axis == .zoom
            case .quadkey, .subdomain: false
            }
        }
        zoomIsFirst = isFirst && components.count > 1
        if zoomIsFirst {
            var all = Int.max
            for entry in entries(in: "", 0, [:], limit: Self.mostMixedNames, left: &all) {
                var left = Self.mostNames
                walk(entry.name, 1, entry.values, &left)
            }
        } else {
            var left = Self.mostMixedNames
            walk("", 0, [:], &left)
        }
        for zoom in tiles.keys { tiles[zoom]?.sort { ($0.column, $0.row, $0.path) < ($1.column, $1.row, $1.path) } }
    }

    /// The zooms of the tiles found.
    var zooms: [Int] { tiles.keys.sorted() }
    /// Whether tiles that were not listed may have other zooms.
    var mayHaveOtherZooms: Bool { isUnknown && !zoomIsFirst }
    /// Any tile of the coarsest zoom that has one.
    var first: Tile? { zooms.first.flatMap { tiles[$0]?.first } }

    /// The shape of the world: geodetic if a tile of the coarsest zoom lies beyond the square.
    var world: MapWorld {
        guard let zoom = zooms.first, let last = tiles[zoom]?.last else { return .square }
        return last.column < 1 << zoom ? .square : .geodetic
    }

    /// The part of the world that the tiles cover, with both axes from 0 to 1; `nil` if they are too many to tell, or none.
    ///
    /// A zoom with too many files does not enlarge it. Those that were listed have to lie in what the other zooms cover:
    /// otherwise these do not tell. The rest of such a zoom is taken to lie there too.
    func part(of world: MapWorld) -> PixelRect? {
        guard !isUnknown else { return nil }
        var covered: PixelRect?
        var samples: [PixelRect] = []
        for (zoom, found) in tiles {
            let height = 1 / Double(1 << zoom)
            let width = height / Double(world.width)
            let own = found.reduce(nil as PixelRect?) { part, tile in
                let (x, y) = (Double(tile.column) * width, Double(tile.row) * height)
                let own = PixelRect(minX: x, minY: y, maxX: x + width, maxY: y + height)
                return part?.union(own) ?? own
            }
            guard let own else { continue }
            if partialZooms.contains(zoom) { samples.append(own) } else { covered = covered?.union(own) ?? own }
        }
        guard let covered, samples.allSatisfy({ covered.union($0) == covered }) else { return nil }
        return covered
    }

    // MARK: - Listing

    /// A number of a path, for what it counts.
    private struct Place: Hashable {
        var axis: TileTemplate.Number.Axis
        var divisor: Int
    }

    private struct Entry {
        /// Path within the folder.
        var name: String
        var ending = ""
        var values: [Place: Int]
        var order: [Int]
    }

    private mutating func walk(_ folder: String, _ index: Int, _ values: [Place: Int], _ left: inout Int) {
        let isLast = index == components.count - 1
        let limit = isLast ? max(left, 1) : Self.mostNames
        let found = entries(in: folder, index, values, limit: limit, left: &left)
        guard !isLast else { return found.forEach { add($0) } }
        // The outermost ones first, and one between.
        let order = [0, found.count - 1, found.count / 2] + Array(found.indices)
        var known: Set<Int> = []
        for (place, number) in order.enumerated()
        where found.indices.contains(number) && (place < 3 || left > 0) && known.insert(number).inserted {
            walk(found[number].name, index + 1, found[number].values, &left)
        }
        if left <= 0 { isCutShort(values) }
    }

    /// Notes that not all tiles of a zoom were listed, or of all zooms.
    private mutating func isCutShort(_ values: [Place: Int]) {
        if let zoom = values[Place(axis: .zoom, divisor: 1)] { partialZooms.insert(zoom) } else { isUnknown = true }
    }

    private mutating func entries(
        in folder: String,
        _ index: Int,
        _ values: [Place: Int],
        limit: Int,
        left: inout Int
    ) -> [Entry] {
        let isLast = index == components.count - 1
        let names = Files.names(in: path(folder), limit: limit) ?? []
        left -= isLast ? names.count : 1
        // Files that are not listed are too many; folders that are not say nothing of where the last one is.
        if names.count >= limit { if isLast { isCutShort(values) } else { isUnknown = true } }
        if isLast, left <= 0 { isCutShort(values) }
        return names.compactMap { match($0, folder, index, values) }.sorted { one, other in
            one.order.lexicographicallyPrecedes(other.order)
        }
    }

    private func path(_ name: String) -> String { name.isEmpty ? root : "\(root)/\(name)" }

    /// Reads the numbers of a name; `nil` if it is none of a tile or of a folder of tiles.
    private func match(_ name: String, _ folder: String, _ index: Int, _ values: [Place: Int]) -> Entry? {
        var entry = Entry(name: folder.isEmpty ? name : "\(folder)/\(name)", values: values, order: [])
        var rest = Substring(name)
        if index == components.count - 1 {
            guard let dot = name.lastIndex(of: ".") else { return nil }
            entry.ending = String(name[name.index(after: dot)...])
            guard endings.contains(entry.ending.lowercased()) else { return nil }
            rest = name[..<dot]
        }
        let parts = components[index]
        for (place, part) in parts.enumerated() {
            switch part {
            case .text(let text):
                guard rest.hasPrefix(text) else { return nil }
                rest = rest.dropFirst(text.count)
            case .number(let number):
                var digits = rest.prefix { $0.isASCII && $0.isHexDigit && (number.radix == 16 || $0.isNumber) }
                if case .number? = parts.dropFirst(place + 1).first { digits = digits.prefix(number.width) }
                guard digits.utf8.count <= 16, let value = Int(digits, radix: number.radix),
                    value <= 1 << 31, number.text(of: value &* number.divisor) == digits,
                    number.axis != .zoom || MapPyramid.zooms.contains(value)
                else { return nil }
                entry.values[Place(axis: number.axis, divisor: number.divisor)] = value
                entry.order.append(value)
                rest = rest.dropFirst(digits.count)
            case .quadkey:
                let digits = rest.prefix { ("0"..."3").contains($0) }
                let (zoom, column, row) = Self.tile(ofQuadkey: digits)
                for (axis, value) in [(TileTemplate.Number.Axis.zoom, zoom), (.column, column), (.row, row)] {
                    entry.values[Place(axis: axis, divisor: 1)] = value
                    entry.order.append(value)
                }
                rest = rest.dropFirst(digits.count)
            case .subdomain: return nil
            }
        }
        return rest.isEmpty ? entry : nil
    }

    private static func tile(ofQuadkey digits: Substring) -> (zoom: Int, column: Int, row: Int) {
        digits.utf8.prefix(MapPyramid.zooms.upperBound + 1).reduce((0, 0, 0)) { tile, digit in
            let value = Int(digit) - 48
            return (tile.0 + 1, tile.1 << 1 | value & 1, tile.2 << 1 | value >> 1)
        }
    }

    /// Adds a file if its numbers are those of a tile.
    private mutating func add(_ entry: Entry) {
        func value(_ axis: TileTemplate.Number.Axis) -> Int? {
            let parts = entry.values.filter { $0.key.axis == axis }
            return parts.isEmpty ? nil : parts.reduce(0) { $0 &+ $1.key.divisor &* $1.value }
        }
        guard let zoom = value(.zoom), MapPyramid.zooms.contains(zoom), let column = value(.column),
            (0..<2 << zoom).contains(column), let number = value(.row) ?? value(.rowFromBottom),
            (0..<1 << zoom).contains(number)
        else { return }
        // The order of rows is its own inverse.
        let row = template.value(value(.row) == nil ? .rowFromBottom : .row, zoom: zoom, column: column, row: number)
        // A tile has one name: numbers that are given twice agree.
        guard "\(template.address(zoom: zoom, column: column, row: row)).\(entry.ending)" == entry.name else { return }
        tiles[zoom, default: []].append(
            Tile(zoom: zoom, column: column, row: row, path: entry.name, ending: entry.ending)
        )
    }
}
