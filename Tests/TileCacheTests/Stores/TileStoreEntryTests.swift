import TestSupport
import Testing

@testable import TileCache

/// An entry that differs from the stored one, in any bit, is a miss.
@Suite struct TileStoreEntryTests {
    private static let shape = TileStoreShape(format: .rgba8, alpha: .premultiplied, width: 4, height: 3)
    private static let namespace = TileStoreNamespace(dataSet: ["world.mbtiles", "12345", "67890"], shape: shape)
    private static let key = TileStoreKey(
        namespace: namespace,
        tile: TileCoordinate(level: 7, column: 1 << 33, row: 5)
    )
    private static let freshness = TileStoreFreshness(
        stored: 1000,
        expires: 2000,
        usableUntil: 3000,
        entityTag: "\"abc\"",
        lastModified: "Wed, 21 Oct 2015 07:28:00 GMT"
    )

    /// An entry with its payload copied.
    private struct Contents: Equatable {
        var key: TileStoreKey
        var shape: TileStoreShape
        var generation: UInt64
        var freshness: TileStoreFreshness
        var kind: TileStorePayload
        var payload: [UInt8]
    }

    private static func encode(
        _ kind: TileStorePayload,
        _ payload: [UInt8],
        key: TileStoreKey = key,
        shape: TileStoreShape = shape,
        freshness: TileStoreFreshness = freshness
    ) -> [UInt8]? {
        payload.withUnsafeBytes { payload in
            TileStoreEntry(
                key: key,
                shape: shape,
                generation: 9,
                freshness: freshness,
                kind: kind,
                payload: payload
            ).encoded()
        }
    }

    private static func decode(
        _ bytes: [UInt8],
        key: TileStoreKey = key,
        shape: TileStoreShape = shape,
        minimumGeneration: UInt64 = 9
    ) -> Result<Contents, TileStoreMiss> {
        // A copy of exactly this size, so that AddressSanitizer detects a read beyond its end.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        do throws(TileStoreMiss) {
            let entry = try TileStoreEntry(
                decoding: UnsafeRawBufferPointer(copy),
                key: key,
                shape: shape,
                minimumGeneration: minimumGeneration
            )
            return .success(
                Contents(
                    key: entry.key,
                    shape: entry.shape,
                    generation: entry.generation,
                    freshness: entry.freshness,
                    kind: entry.kind,
                    payload: Array(entry.payload)
                )
            )
        } catch {
            return .failure(error)
        }
    }

    private static func payload(_ kind: TileStorePayload) -> [UInt8] {
        switch kind {
        case .absent: []
        case .pixels: Array(0..<48)
        case .solid: Array(1...8)
        case .block, .encoded: Array(100..<121)
        }
    }

    @Test(arguments: TileStorePayload.allCases)
    func anEntryIsReadAsItWasWritten(kind: TileStorePayload) throws {
        let bytes = try #require(Self.encode(kind, Self.payload(kind)))
        #expect(bytes.count == 120 + 5 + 29 + Self.payload(kind).count)
        let read = try Self.decode(bytes).get()
        #expect(
            read
                == Contents(
                    key: Self.key,
                    shape: Self.shape,
                    generation: 9,
                    freshness: Self.freshness,
                    kind: kind,
                    payload: Self.payload(kind)
                )
        )
    }

    @Test func theLayoutIsTheDocumentedOne() throws {
        let bytes = try #require(Self.encode(.solid, Self.payload(.solid)))
        func number(_ range: Range<Int>) -> UInt64 {
            range.reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
        }
        #expect(Array(bytes[0..<4]) == Array("TCSE".utf8))
        #expect(number(4..<6) == 1 && bytes[6...9] == [4, 1, 2, 7])
        #expect(number(10..<12) == 5 && number(12..<14) == 29 && number(14..<16) == 0)
        #expect(number(16..<20) == 4 && number(20..<24) == 3 && number(24..<32) == 0)
        #expect(number(32..<40) == Self.namespace.high && number(40..<48) == Self.namespace.low)
        #expect(number(48..<56) == 1 << 33 && number(56..<64) == 5 && number(64..<72) == 9)
        #expect(number(72..<80) == 1000 && number(80..<88) == 2000 && number(88..<96) == 3000)
        #expect(number(96..<104) == 8)
        #expect(String(decoding: bytes[120..<125], as: UTF8.self) == "\"abc\"")
        #expect(Array(bytes.suffix(8)) == Self.payload(.solid))
    }

    @Test(arguments: TileStorePayload.allCases)
    func everyBitAndEveryLengthCounts(kind: TileStorePayload) throws {
        let bytes = try #require(Self.encode(kind, Self.payload(kind)))
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << (bit % 8)
            if case .success = Self.decode(damaged) { Issue.record("bit \(bit) does not count") }
        }
        for count in 0..<bytes.count {
            let cut = Self.decode(Array(bytes[..<count]))
            #expect(cut == .failure(.truncated), "\(count) bytes")
        }
        #expect(Self.decode(bytes + [0]) == .failure(.corrupt))
    }

    @Test func randomDamageOfLargerEntries() throws {
        let seed: UInt64 = 160
        var random = SplitMix64(seed: seed)
        let shape = TileStoreShape(format: .rgba16, alpha: .straight, width: 64, height: 16)
        let bytes = try #require(
            Self.encode(.encoded, (0..<8000).map { _ in UInt8(random.below(256)) }, shape: shape)
        )
        for round in 0..<10_000 {
            var damaged = bytes
            for _ in 0...random.below(4) { damaged[random.below(bytes.count)] ^= UInt8(1 + random.below(255)) }
            if random.oneIn(8) { damaged.removeLast(random.below(300)) }
            guard damaged != bytes else { continue }
            if case .success = Self.decode(damaged, shape: shape) {
                Issue.record("seed \(seed), round \(round): damage does not count")
            }
        }
    }

    @Test func randomBytesAreNoEntry() throws {
        let seed: UInt64 = 161
        var random = SplitMix64(seed: seed)
        let bytes = try #require(Self.encode(.block, Self.payload(.block)))
        for round in 0..<3000 {
            var noise = (0..<random.below(400)).map { _ in UInt8(random.below(256)) }
            // Headers that pass the first checks.
            let kept = min(random.below(20), noise.count)
            noise.replaceSubrange(..<kept, with: bytes[..<kept])
            if case .success = Self.decode(noise) { Issue.record("seed \(seed), round \(round)") }
        }
    }

    @Test func causesOfMisses() throws {
        let bytes = try #require(Self.encode(.pixels, Self.payload(.pixels)))
        var key = Self.key
        key.tile.row += 1
        #expect(Self.decode(bytes, key: key) == .failure(.foreignKey))
        key = Self.key
        key.namespace = TileStoreNamespace(high: key.namespace.low, low: key.namespace.high)
        #expect(Self.decode(bytes, key: key) == .failure(.foreignKey))
        var shape = Self.shape
        shape.alpha = .straight
        #expect(Self.decode(bytes, shape: shape) == .failure(.wrongShape))
        shape = TileStoreShape(format: .rgba8, alpha: .premultiplied, width: 3, height: 4)
        #expect(Self.decode(bytes, shape: shape) == .failure(.wrongShape))
        #expect(Self.decode(bytes, minimumGeneration: 10) == .failure(.oldGeneration))
        var newer = bytes
        newer[4] = 2
        #expect(Self.decode(newer) == .failure(.newerVersion))
        var older = bytes
        older[4] = 0
        #expect(Self.decode(older) == .failure(.corrupt))
    }

    @Test func entriesOutOfRangeAreNotWritten() {
        func isWritten(_ change: (inout TileStoreKey, inout TileStoreShape) -> Void) -> Bool {
            var (key, shape) = (Self.key, Self.shape)
            change(&key, &shape)
            return Self.encode(.block, [1], key: key, shape: shape) != nil
        }
        #expect(isWritten { key, _ in key.tile.level = 255 })
        #expect(!isWritten { key, _ in key.tile.level = 256 })
        #expect(!isWritten { key, _ in key.tile.level = -1 })
        #expect(!isWritten { key, _ in key.tile.column = -1 })
        #expect(!isWritten { key, _ in key.tile.row = -1 })
        #expect(!isWritten { _, shape in shape.width = 0 })
        #expect(!isWritten { _, shape in shape.width = 1 << 32 })
        #expect(!isWritten { _, shape in shape.format = .opaque(bytesPerTile: 0) })
        #expect(Self.encode(.pixels, Array(0..<47)) == nil)
        #expect(Self.encode(.solid, Array(0..<7)) == nil)
        #expect(Self.encode(.absent, [0]) == nil)
        #expect(Self.encode(.encoded, []) == nil)
        // 64 MiB, or twice the pixels.
        for (side, most) in [(16, 64 << 20), (10_000, 800_000_000)] {
            let shape = TileStoreShape(format: .rgba8, alpha: .straight, width: side, height: side)
            for (count, isWritten) in [(most, true), (most + 1, false)] {
                let entry = TileStoreEntry(
                    key: Self.key,
                    shape: shape,
                    generation: 0,
                    freshness: TileStoreFreshness(stored: 0),
                    kind: .encoded,
                    payload: UnsafeRawBufferPointer(start: nil, count: 0)
                )
                #expect((entry.encodedHeader(payloadByteCount: count, checksum: 0) != nil) == isWritten)
            }
        }
    }

    /// A tile that may always be drawn while it is revalidated may be so from a store, too.
    @Test func whatIsUsableForEverStaysUsable() throws {
        let times: [Int64?] = [Int64.max, Int64.max - 1, nil]
        for until in times {
            let freshness = TileStoreFreshness(stored: 1000, expires: 2000, usableUntil: until)
            let bytes = try #require(Self.encode(.solid, Self.payload(.solid), freshness: freshness))
            let read = try Self.decode(bytes).get().freshness
            #expect(read.state(at: 5000) == freshness.state(at: 5000) && read.expires == 2000)
            #expect(freshness.state(at: 5000) == (until == nil ? .expired : .stale))
        }
    }

    @Test(arguments: [512, 513])
    func longValidatorsAreDropped(count: Int) throws {
        let text = String(repeating: "x", count: count)
        let freshness = TileStoreFreshness(stored: 1, entityTag: text, lastModified: "")
        let bytes = try #require(Self.encode(.solid, Self.payload(.solid), freshness: freshness))
        let read = try Self.decode(bytes).get().freshness
        #expect(read == TileStoreFreshness(stored: 1, entityTag: count == 512 ? text : nil))
        // Nothing can confirm an entry by a validator that it will not have.
        #expect(freshness.hasValidator == read.hasValidator && read.hasValidator == (count == 512))
        let both = TileStoreFreshness(stored: 1, entityTag: text, lastModified: text)
        let header = try #require(Self.encode(.solid, Self.payload(.solid), freshness: both))
        let length = try header.withUnsafeBytes { try TileStoreEntry.headerByteCount($0) }
        #expect(length == TileStoreEntry.fixedByteCount + (count == 512 ? 1024 : 0))
    }
}
