import Foundation
import Testing

@testable import TileCache

/// Ranges of addresses, as the system sees them.
@Suite struct MemoryRegionTests {
    #if os(Linux)
        /// Flags of the mapping that contains an address: `nh` says that it has no huge pages.
        private func flags(at address: UInt) -> [Substring] {
            // It has no size, and is written as it is read.
            guard let file = fopen("/proc/self/smaps", "r") else { return [] }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 65_536)
            while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part[..<count] }
            let text = String(decoding: bytes, as: UTF8.self)
            var isWithin = false
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                if ends.count == 2, words.count > 1 { isWithin = ends[0] <= address && address < ends[1] }
                if isWithin, words[0] == "VmFlags:" { return Array(words.dropFirst()) }
            }
            return []
        }

        /// Whether each page of a range is in memory.
        private func arePresent(_ region: MemoryRegion, from offset: Int, _ pages: Int) -> [Bool] {
            var states = [UInt8](repeating: 0, count: pages)
            mincore(region.base + offset, pages * MemoryRegion.systemPageBytes, &states)
            return states.map { $0 & 1 != 0 }
        }

        /// A system that refuses it, as Linux before 5.14 does, commits memory at its first use.
        @Test func populatedMemoryIsPresentUntilItIsDecommitted() throws {
            let page = MemoryRegion.systemPageBytes
            let region = try #require(MemoryRegion(byteCount: 64 * page))
            region.populate(offset: 16 * page, byteCount: 32 * page)
            let states = arePresent(region, from: 0, 64)
            #expect(!states[..<16].contains(true) && !states[48...].contains(true))
            #expect(Set(states[16..<48]).count == 1)
            for index in 0..<32 * page where region.base.load(fromByteOffset: 16 * page + index, as: UInt8.self) != 0 {
                Issue.record("byte \(index) is not zero")
            }
            region.decommit(offset: 16 * page, byteCount: 32 * page)
            #expect(!arePresent(region, from: 16 * page, 32).contains(true))
        }

        /// The limit holds in real memory whatever the system's setting of huge pages is.
        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/sys/kernel/mm/transparent_hugepage")))
        func regionsHaveNoHugePages() throws {
            let region = try #require(MemoryRegion(byteCount: 64 << 20))
            let start = UInt(bitPattern: region.base)
            #expect(flags(at: start).contains("nh") && flags(at: start + 64 << 20 - 1).contains("nh"))
            // Also where memory was given back by a new mapping, since locked memory cannot be decommitted.
            let page = MemoryRegion.systemPageBytes
            guard mlock(region.base, page) == 0 else { return }
            region.base.storeBytes(of: 7, as: UInt8.self)
            region.decommit(offset: 0, byteCount: page)
            #expect(region.base.load(as: UInt8.self) == 0 && flags(at: start).contains("nh"))
        }
    #endif
}
