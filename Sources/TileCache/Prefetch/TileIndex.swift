/// Numbers by tile: open addressing with linear probing, at most half full, without allocation per look-up.
struct TileIndex: Sendable {
    private var keys: [TileKey]
    /// Number of the key at each place, or -1.
    private var numbers: [Int32]
    private(set) var count = 0

    private var mask: Int { numbers.count - 1 }

    /// Bytes beyond those of an empty index.
    var byteCount: Int { max(numbers.count - 64, 0) * (MemoryLayout<TileKey>.stride + MemoryLayout<Int32>.stride) }

    /// - Parameter capacity: A power of two.
    init(capacity: Int = 64) {
        keys = [TileKey](repeating: TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0)), count: capacity)
        numbers = [Int32](repeating: -1, count: capacity)
    }

    /// Number of a tile, or `nil`.
    func find(_ key: TileKey) -> Int? {
        let place = place(of: key)
        return numbers[place] >= 0 ? Int(numbers[place]) : nil
    }

    /// Place of a tile, present or not.
    private func place(of key: TileKey) -> Int {
        var place = Int(truncatingIfNeeded: key.hash) & mask
        while numbers[place] >= 0, keys[place] != key { place = (place + 1) & mask }
        return place
    }

    mutating func set(_ key: TileKey, _ number: Int) {
        if !insert(key, number) { numbers[place(of: key)] = Int32(number) }
    }

    /// Sets the number of a tile unless it has one; returns whether it had none.
    mutating func insert(_ key: TileKey, _ number: Int) -> Bool {
        if (count + 1) * 2 > numbers.count { grow() }
        let place = place(of: key)
        guard numbers[place] < 0 else { return false }
        keys[place] = key
        numbers[place] = Int32(number)
        count += 1
        return true
    }

    mutating func remove(_ key: TileKey) {
        var hole = place(of: key)
        guard numbers[hole] >= 0 else { return }
        count -= 1
        var probe = (hole + 1) & mask
        // Following entries move up unless they are at or behind their own place.
        while numbers[probe] >= 0 {
            let home = Int(truncatingIfNeeded: keys[probe].hash) & mask
            if (probe - home) & mask >= (probe - hole) & mask {
                keys[hole] = keys[probe]
                numbers[hole] = numbers[probe]
                hole = probe
            }
            probe = (probe + 1) & mask
        }
        numbers[hole] = -1
    }

    /// Removes all tiles and keeps the memory.
    mutating func removeAll() {
        guard count > 0 else { return }
        for place in numbers.indices { numbers[place] = -1 }
        count = 0
    }

    private mutating func grow() {
        var larger = TileIndex(capacity: numbers.count * 2)
        for place in numbers.indices where numbers[place] >= 0 { larger.set(keys[place], Int(numbers[place])) }
        self = larger
    }
}
