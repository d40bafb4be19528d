#if os(Linux)
    import Testing

    @testable import TileCache

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Memory that is free in the ledger is free in the system, page by page.
    @Suite(.timeLimit(.minutes(45))) struct ServiceMemoryTests {
        /// Resident bytes of an address range.
        private func resident(_ region: MemoryRegion) -> Int {
            let page = sysconf(Int32(_SC_PAGESIZE))
            let length = (region.byteCount + page - 1) / page * page
            var pages = [UInt8](repeating: 0, count: length / page)
            guard mincore(region.base, length, &pages) == 0 else { return -1 }
            return pages.count { $0 & 1 == 1 } * page
        }

        @Test func whatIsTrimmedGoesBackToTheSystem() throws {
            let cache = try TileCache(byteLimit: .mebibytes(2))
            let source = NoisySource()
            let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
            let view = ServiceSetup.quiet(cache, [layer])
            var most = (slots: 0, pages: 0)
            for step in 0..<20 {
                view.update(ServiceSetup.viewport(300 + Double(step) * 150, 700))
                #expect(eventually { view.frame().missingTileCount == 0 })
                let (slots, pages) = cache.core.lock.withLock { ($0.slotRegions[0], $0.pageRegion) }
                most = (max(most.slots, resident(slots)), max(most.pages, resident(pages)))
            }
            #expect(most.slots > 1 << 18 && most.pages > 1 << 16, "\(most)")
            view.update(needing: [])
            #expect(
                eventually {
                    cache.trim(to: .bytes(0))
                    let (slots, pages) = cache.core.lock.withLock { ($0.slotRegions[0], $0.pageRegion) }
                    return resident(slots) == 0 && resident(pages) == 0
                }
            )
            #expect(cache.statistics.memory.decodedTiles == 0 && cache.statistics.memory.compressedTiles == 0)
        }
    }

    /// Tiles that compress to about half.
    private struct NoisySource: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            pixels.withUnsafeMutableBytes { bytes in
                var random = SplitMix64(seed: UInt64(tile.column) << 20 | UInt64(tile.row))
                for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                    let word = offset % 64 < 16 ? random.next() : 0
                    bytes.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
                }
            }
            return .pixels
        }
    }
#endif
