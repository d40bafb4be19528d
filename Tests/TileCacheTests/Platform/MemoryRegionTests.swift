import Foundation
import Testing

@testable import TileCache

/// Ranges of addresses, as the system sees them.
@Suite struct MemoryRegionTests {
    #if os(Linux)
        /// Flags of the mapping that contains an address: `nh` says that it has no huge pages.
        private func flags(at address: UInt) -> [Substring] {
            let text = (try? String(contentsOfFile: "/proc/self/smaps", encoding: .utf8)) ?? ""
            var isWithin = false
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                if ends.count == 2, words.count > 1 { isWithin = ends[0] <= address && address < ends[1] }
                if isWithin, words[0] == "VmFlags:" { return Array(words.dropFirst()) }
            }
            return []
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
