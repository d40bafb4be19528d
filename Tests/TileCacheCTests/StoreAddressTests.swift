import Testing
import TileSharedStore

@testable import TileSourcesC

/// Addresses of stores, and the messages for invalid ones.
@Suite struct StoreAddressTests {
    @Test(arguments: [
        ("disk:tiles", "tiles", 1 << 30),
        ("disk:/a b/ü", "/a b/ü", 1 << 30),
        ("disk:tiles?limit=4194304", "tiles", 4_194_304),
        ("disk:tiles?limit=0", "tiles", 0),
        ("disk:tiles?limit=5KiB", "tiles", 5120),
        ("disk:tiles?limit=512MiB", "tiles", 536_870_912),
        ("disk:tiles?limit=2GiB", "tiles", 2_147_483_648),
        ("disk:tiles?limit=32TiB", "tiles", 1 << 45),
        ("disk:a?limit=1?limit=2", "a?limit=1", 2),
        ("disk:disk:a", "disk:a", 1 << 30),
    ])
    func folders(address: String, path: String, limit: Int) throws {
        #expect(try StoreAddress(address) == .disk(path: path, byteLimit: limit))
    }

    @Test func servers() throws {
        #expect(
            try StoreAddress("memcached:one:5,[::1]:6,two")
                == .memcached([
                    SharedServer(host: "one", port: 5), SharedServer(host: "::1", port: 6), SharedServer(host: "two"),
                ])
        )
    }

    @Test(arguments: [
        "", "disk", "Disk:a", " disk:a", "memcached", "tiles", "disk:", "disk:?limit=1", "disk:a?", "disk:a?limit",
        "disk:a?limit=", "disk:a?limit=MiB", "disk:a?limit=-1", "disk:a?limit=+1", "disk:a?limit=1.5GiB",
        "disk:a?limit=1 MiB", "disk:a?limit=1mib", "disk:a?limit=1MB", "disk:a?limit=٣", "disk:a?b",
        "disk:a?limit=9223372036854775808", "disk:a?limit=8796093022208MiB", "memcached:", "memcached:a,",
        "memcached:a:65536", "memcached:a/b",
    ])
    func refused(address: String) throws {
        let error = try #require(throws: StoreAddressError.self) { try StoreAddress(address) }
        #expect(error.description.hasSuffix(" '\(address)'"))
    }

    /// Both sides of the largest number that an address can have.
    @Test func largestLimit() {
        #expect(StoreAddress.bytes("9223372036854775807") == .max)
        #expect(StoreAddress.bytes("9223372036854775808") == nil)
        #expect(StoreAddress.bytes("8388607TiB") == 8_388_607 << 40)
        #expect(StoreAddress.bytes("8388608TiB") == nil)
    }
}
