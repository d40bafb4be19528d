import Testing

@testable import TileCache

@Suite struct TileStoreKeyTests {
    /// Vectors of the reference implementation, confirmed by OpenSSL. Key and input are 0, 1, 2 and so on.
    @Test(
        arguments: [
            (0, 0xe6a8_25ba_047f_81a3, 0x9302_55c7_1472_f66d),
            (1, 0x44af_996b_d8c1_87da, 0x45fc_229b_1159_7634),
            (8, 0x61f5_5862_baa9_623b, 0xb497_14f3_64e2_830f),
            (15, 0x11a8_b033_99e9_9354, 0xd9c3_cf97_0fec_087e),
            (64, 0x3fcd_d4c0_7d07_af1e, 0x4ba7_5836_384d_ad8c),
        ] as [(Int, UInt64, UInt64)]
    )
    func sipHash(count: Int, first: UInt64, second: UInt64) {
        let hash = SipHash128.hash(
            (0..<count).map { UInt8($0) },
            key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        )
        #expect(hash == (first, second))
    }

    @Test func namespacesOfDifferentDataDiffer() {
        let shape = TileStoreShape(format: .rgba8, alpha: .premultiplied, width: 256, height: 256)
        var all: Set<TileStoreNamespace> = []
        var count = 0
        func add(_ dataSet: [String], _ shape: TileStoreShape, _ settings: [String]) {
            all.insert(TileStoreNamespace(dataSet: dataSet, shape: shape, settings: settings))
            count += 1
        }
        add([], shape, [])
        add(["ab", "c"], shape, [])
        add(["a", "bc"], shape, [])
        add(["abc"], shape, [])
        add(["c", "ab"], shape, [])
        add(["ab"], shape, ["c"])
        add([], shape, ["ab", "c"])
        add(["", ""], shape, [])
        add([""], shape, [""])
        let formats: [TilePixelFormat] = [
            .bgra8, .gray8, .gray16, .rgba16, .float32, .opaque(bytesPerTile: 1), .opaque(bytesPerTile: 2),
        ]
        for format in formats {
            var other = shape
            other.format = format
            add(["abc"], other, [])
        }
        for change in 0..<4 {
            var other = shape
            switch change {
            case 0: other.alpha = .straight
            case 1: other.alpha = .ignored
            case 2: other.width = 258
            default: other.height = 258
            }
            add(["abc"], other, [])
        }
        #expect(all.count == count)
    }

    /// They are in stored entries and in checksums of blocks.
    @Test func numbersOfFormatsNeverChange() {
        let formats: [TilePixelFormat] = [
            .rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32, .opaque(bytesPerTile: 9),
        ]
        #expect(formats.map(\.code) == Array(1...7))
        for format in formats {
            #expect(TilePixelFormat(code: format.code, opaqueByteCount: format.opaqueByteCount) == format)
            #expect(TilePixelFormat(code: format.code, opaqueByteCount: 9 - format.opaqueByteCount) == nil)
        }
        #expect(TilePixelFormat(code: 0, opaqueByteCount: 0) == nil)
        #expect(TilePixelFormat(code: 8, opaqueByteCount: 0) == nil)
    }

    @Test func tilesOfABlockAreAdjacentAndDistinct() {
        let namespace = TileStoreNamespace(high: 1, low: 2)
        func hash(_ level: Int, _ column: Int, _ row: Int) -> UInt64 {
            TileStoreKey(namespace: namespace, tile: TileCoordinate(level: level, column: column, row: row))
                .clusteredHash
        }
        var all: Set<UInt64> = []
        for row in 8..<16 { for column in 16..<24 { all.insert(hash(5, column, row)) } }
        #expect(all.count == 64 && all.max()! - all.min()! == 63)
        #expect(hash(5, 16, 8) >> 6 != hash(5, 24, 8) >> 6)
        #expect(hash(5, 16, 8) >> 6 != hash(5, 16, 16) >> 6)
        #expect(hash(5, 16, 8) >> 6 != hash(6, 16, 8) >> 6)
        let other = TileStoreKey(
            namespace: TileStoreNamespace(high: 2, low: 1),
            tile: TileCoordinate(level: 5, column: 16, row: 8)
        )
        #expect(hash(5, 16, 8) != other.clusteredHash)
        // SipHash of forty bytes: namespace, level, and column and row of the block; then the place in the block.
        let words: [UInt64] = [1, 2, 5, 3, 2]
        let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
        #expect(hash(5, 26, 19) == SipHash128.hash(bytes).0 & ~63 | 3 << 3 | 2)
    }

    /// Lists of stores are equal if they have the same objects in the same order, and the same names.
    @Test func listsOfStores() {
        let (a, b) = (MemoryStore(), MemoryStore())
        let list = LayerStores([a, b], dataSet: ["x", "y"])
        #expect(list == LayerStores([a, b], dataSet: ["x", "y"]))
        let others = [
            LayerStores([b, a], dataSet: ["x", "y"]), LayerStores([a], dataSet: ["x", "y"]),
            LayerStores([a, b], dataSet: ["x"]), LayerStores([a, b], dataSet: ["y", "x"]),
        ]
        for other in others { #expect(list != other && list.hashValue != other.hashValue) }
        #expect(list.hashValue == LayerStores([a, b], dataSet: ["x", "y"]).hashValue)
    }

    @Test func freshness() {
        let always = TileStoreFreshness(stored: 5000)
        #expect(always.state(at: 0) == .fresh && always.state(at: .max) == .fresh)
        let plain = TileStoreFreshness(stored: 1000, expires: 2000)
        #expect(plain.state(at: 1999) == .fresh && plain.state(at: 2000) == .expired)
        let lenient = TileStoreFreshness(stored: 1000, expires: 2000, usableUntil: 3000)
        #expect(lenient.state(at: 1999) == .fresh)
        #expect(lenient.state(at: 2000) == .stale && lenient.state(at: 2999) == .stale)
        #expect(lenient.state(at: 3000) == .expired)
        // A clock that was ahead when the entry was stored, or has gone back since.
        #expect(lenient.state(at: 940) == .fresh && lenient.state(at: 939) == .stale)
        #expect(lenient.state(at: .min) == .stale)
        let late = TileStoreFreshness(stored: .max, expires: .max - 2, usableUntil: .max - 1)
        #expect(late.state(at: 0) == .stale && late.state(at: .max) == .expired)
        // What must be confirmed before it is drawn, such as after `no-cache`, was drawn then.
        #expect(plain.state(at: 940) == .fresh && plain.state(at: 939) == .expired)
        let unconfirmed = TileStoreFreshness(stored: 1000, expires: 1000, usableUntil: 1000, entityTag: "a")
        #expect([939, 940, 999, 1000].allSatisfy { unconfirmed.state(at: $0) == .expired })
    }
}
