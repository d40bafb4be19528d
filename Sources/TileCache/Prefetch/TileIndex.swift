/// Numbers by tile: open addressing with linear probing, at most half full, without allocation per look-up.
struct TileIndex: Sendable {
    private struct Place {
        var key: TileKey
        /// Number of the key, or -1.
        var number: Int32
    }

    /// Side by side, so that a look-up reads one cache line.
    private var places: [Place] = []
    private(set) var count = 0

    private static let leastCapacity = 64

    private var mask: Int { places.count - 1 }

    /// Bytes beyond those of a small index.
    var byteCount: Int { max(places.count - Self.leastCapacity, 0) * MemoryLayout<Place>.stride }

    /// Creates an empty index, which has no memory before the first tile. Many indexes of a plan stay empty.
    init() {}

    private init(capacity: Int) { places = [Place](repeating: Self.empty, count: capacity) }

    private static let empty = Place(key: TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0)), number: -1)

    /// Number of a tile, or `nil`.
    @inline(__always)
    func find(_ key: TileKey) -> Int? {
        guard count > 0 else { return nil }
        let number = places[place(of: key)].number
        return number >= 0 ? Int(number) : nil
    }

    /// Place of a tile, present or not. The index has memory.
    @inline(__always)
    private func place(of key: TileKey) -> Int {
        var place = Int(truncatingIfNeeded: key.hash) & mask
        while places[place].number >= 0, places[place].key != key { place = (place + 1) & mask }
        return place
    }

    mutating func set(_ key: TileKey, _ number: Int) {
        let place = placeToSet(key)
        if places[place].number < 0 { count += 1 }
        places[place] = Place(key: key, number: Int32(number))
    }

    /// Sets the number of a tile unless it has one; returns whether it had none.
    mutating func insert(_ key: TileKey, _ number: Int) -> Bool {
        let place = placeToSet(key)
        guard places[place].number < 0 else { return false }
        places[place] = Place(key: key, number: Int32(number))
        count += 1
        return true
    }

    private mutating func placeToSet(_ key: TileKey) -> Int {
        if (count + 1) * 2 > places.count { grow() }
        return place(of: key)
    }

    /// - Parameter number: The tile stays if it has another number. Default: any.
    mutating func remove(_ key: TileKey, if number: Int? = nil) {
        guard count > 0 else { return }
        var hole = place(of: key)
        let present = Int(places[hole].number)
        guard present >= 0, present == number ?? present else { return }
        count -= 1
        var probe = (hole + 1) & mask
        // Following entries move up unless they are at or behind their own place.
        while places[probe].number >= 0 {
            let home = Int(truncatingIfNeeded: places[probe].key.hash) & mask
            if (probe - home) & mask >= (probe - hole) & mask {
                places[hole] = places[probe]
                hole = probe
            }
            probe = (probe + 1) & mask
        }
        places[hole].number = -1
    }

    /// Removes all tiles and keeps the memory.
    mutating func removeAll() {
        guard count > 0 else { return }
        for place in places.indices { places[place].number = -1 }
        count = 0
    }

    private mutating func grow() {
        var larger = TileIndex(capacity: max(places.count * 2, Self.leastCapacity))
        for place in places where place.number >= 0 { larger.set(place.key, Int(place.number)) }
        self = larger
    }
}
