import Testing

@testable import TileCache
@testable import TileSources

/// Numbers and directories of PMTiles archives, without files.
@Suite struct PMTilesDirectoryTests {
    /// Numbers that PyPI's pmtiles 3.8.1 prints.
    @Test(
        arguments: [
            (0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 2), (1, 1, 1, 3), (1, 1, 0, 4), (2, 0, 0, 5), (3, 5, 1, 77),
            (12, 3423, 1763, 19_078_479), (18, 206_080, 89_100, 77_531_250_607),
            (30, 1_073_741_823, 0, 1_537_228_672_809_129_300), (30, 123_456_789, 987_654_321, 776_650_969_942_899_181),
        ] as [(Int, Int, Int, UInt64)]
    ) func numbers(zoom: Int, column: Int, row: Int, number: UInt64) {
        #expect(PMTilesID.number(zoom: zoom, column: column, row: row) == number)
    }

    /// Numbers follow a Hilbert curve: each comes once, and successive tiles are neighbours.
    @Test func numbersFollowACurve() {
        for zoom in 0...6 {
            let side = 1 << zoom
            let tiles = (0..<side * side).map { (column: $0 % side, row: $0 / side) }
                .sorted {
                    PMTilesID.number(zoom: zoom, column: $0.column, row: $0.row)
                        < PMTilesID.number(zoom: zoom, column: $1.column, row: $1.row)
                }
            let first = PMTilesID.number(zoom: zoom, column: 0, row: 0)
            for (index, tile) in tiles.enumerated() {
                let number = PMTilesID.number(zoom: zoom, column: tile.column, row: tile.row)
                #expect(number == first + UInt64(index))
                guard index > 0 else { continue }
                let last = tiles[index - 1]
                #expect(abs(tile.column - last.column) + abs(tile.row - last.row) == 1)
            }
        }
    }

    /// Compares leaf directories with a list in the order of use.
    @Test(arguments: [1, 2, 3] as [UInt64]) func leavesAreEvictedInOrderOfUse(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let limit = [0, 2000, 20_000][Int(seed) - 1]
        var leaves = PMTilesLeaves(limit: limit)
        var model: [(range: Range<Int>, directory: PMTilesDirectory)] = []
        for step in 0..<5000 {
            let start = Int(random.next() % 60)
            let found = model.firstIndex { $0.range == start..<start + 1 }
            let kept = found.map { model.remove(at: $0) }
            if random.next() % 2 == 0 {
                #expect(leaves.use(start..<start + 1) == kept?.directory, "seed \(seed), step \(step)")
                if let kept { model.append(kept) }
            } else {
                let entries = (0..<random.next() % 40).map {
                    PMTilesDirectory.Entry(id: $0, offset: 0, length: 1, run: 1)
                }
                let directory = try PMTilesDirectory(MadePMTiles.directory(entries))
                // One without entries takes memory, too.
                #expect(directory.byteCount >= 128 + 24 * entries.count)
                leaves.keep(directory, start..<start + 1)
                model.append((start..<start + 1, directory))
                while model.count > 1, model.map(\.directory.byteCount).reduce(0, +) > limit { model.removeFirst() }
            }
            let bytes = model.map(\.directory.byteCount).reduce(0, +)
            #expect(leaves.byteCount == bytes, "seed \(seed), step \(step)")
        }
    }

    private func directory(_ bytes: [UInt8]) -> Result<PMTilesDirectory, TileLoadFailure> {
        do throws(TileLoadFailure) { return .success(try PMTilesDirectory(bytes)) } catch { return .failure(error) }
    }

    /// Reads directories of random writers. Compares every tile's entry with a plain search.
    @Test(arguments: [1, 2, 3] as [UInt64]) func directoriesAreRead(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var entries: [PMTilesDirectory.Entry] = []
            var (id, end) = (random.next() % 10, random.next() % 100)
            for _ in 0..<random.next() % 40 {
                let run = random.next() % 4 == 0 ? 0 : UInt32(random.next() % 5 + 1)
                let length = UInt32(truncatingIfNeeded: random.next() >> (random.next() % 20 + 32))
                let offset = random.next() % 3 == 0 ? random.next() >> 2 : end
                entries.append(.init(id: id, offset: offset, length: length, run: run))
                end = offset + UInt64(length)
                guard end < 1 << 62 else { break }
                id += UInt64(max(run, 1)) + random.next() % 3
            }
            entries.removeAll { $0.offset >= 1 << 62 }
            let bytes = MadePMTiles.directory(entries)
            let read = try directory(bytes).get()
            #expect(read.entries == entries, "seed \(seed)")
            for id in 0..<id + 5 {
                let last = entries.last { $0.id <= id }
                let expected = last.flatMap { $0.run == 0 || id < $0.id + UInt64($0.run) ? $0 : nil }
                #expect(read.entry(for: id) == expected, "seed \(seed): tile \(id)")
            }
            for count in 0..<bytes.count {
                if case .success = directory(Array(bytes[..<count])) { Issue.record("seed \(seed): \(count) bytes") }
            }
        }
    }

    @Test func invalidDirectoriesAreRefused() {
        typealias Entry = PMTilesDirectory.Entry
        func refusal(_ entries: [Entry]) -> String {
            if case .failure(let failure) = directory(MadePMTiles.directory(entries)) { failure.message } else { "" }
        }
        let tile = Entry(id: 3, offset: 0, length: 1, run: 1)
        #expect(refusal([tile]).isEmpty)
        #expect(refusal([tile, tile]).contains("entry 1: tile numbers in order"))
        #expect(refusal([tile, Entry(id: 2, offset: 0, length: 1, run: 1)]).contains("in order"))
        #expect(refusal([Entry(id: 1 << 62, offset: 0, length: 1, run: 1)]).contains("in order"))
        #expect(
            refusal([Entry(id: 0, offset: 1 << 63, length: 1, run: 1)]).contains(
                "entry 0: the offset 9223372036854775808"
            )
        )
        #expect(
            refusal([Entry(id: 0, offset: .max, length: 1, run: 1)]).contains("an offset was expected in the first")
        )
        func refusal(bytes: [UInt8]) -> String {
            if case .failure(let failure) = directory(bytes) { failure.message } else { "" }
        }
        #expect(refusal(bytes: []).contains("the number of entries"))
        #expect(refusal(bytes: [0]).isEmpty)
        // A claim of many entries, alone and with too few bytes.
        #expect(refusal(bytes: MadePMTiles.varint(1 << 18 + 1)).contains("at most 262144 was expected"))
        #expect(refusal(bytes: MadePMTiles.varint(1 << 18)).contains("262144 entries in a directory of 3 bytes"))
        // Lengths of more than 32 bits, numbers of more than 64.
        #expect(
            refusal(bytes: [1, 0, 1] + MadePMTiles.varint(1 << 32) + [1]).contains("a length of at most 4294967295")
        )
        #expect(refusal(bytes: [1] + [UInt8](repeating: 255, count: 20)).contains("a tile's number"))
        #expect(refusal(bytes: [1] + [UInt8](repeating: 255, count: 9) + [2, 1, 1, 1]).contains("a tile's number"))
    }

    @Test func gzipIsBounded() throws {
        var random = SplitMix64(seed: 4)
        let empty = MadePMTiles.gzip([])
        for size in [0, 1, 1000, 100_000] {
            let bytes = (0..<size).map { _ in UInt8(random.next() % 7) }
            let packed = MadePMTiles.gzip(bytes)
            #expect(try Gzip.inflate(packed, limit: size).get() == bytes)
            if size > 0 { #expect(throws: TileLoadFailure.self) { try Gzip.inflate(packed, limit: size - 1).get() } }
            for count in [0, 1, 9, packed.count / 2, packed.count - 1] {
                #expect(throws: TileLoadFailure.self) {
                    try Gzip.inflate(Array(packed[..<count]), limit: 1 << 20).get()
                }
            }
            // What follows is not read.
            #expect(try Gzip.inflate(packed + [1, 2, 3], limit: size).get() == bytes)
            #expect(try Gzip.inflate(packed + empty + packed + [0x1F], limit: 2 * size).get() == bytes + bytes)
            let cut = packed + packed.dropLast()
            #expect(throws: TileLoadFailure.self) { try Gzip.inflate(cut, limit: 2 * size).get() }
            if size > 0 {
                #expect(throws: TileLoadFailure.self) { try Gzip.inflate(packed + packed, limit: 2 * size - 1).get() }
            }
        }
        let larger = MadePMTiles.gzip([UInt8](repeating: 0, count: 1 << 20 + 1))
        guard case .failure(let failure) = Gzip.inflate(larger, limit: 1 << 20) else {
            Issue.record("a byte too many is refused")
            return
        }
        #expect(failure.cause == .tooLarge && failure.message.contains("more than 1048576 bytes"))
        #expect(throws: TileLoadFailure.self) { try Gzip.inflate(Array("no gzip at all".utf8), limit: 100).get() }
    }
}
