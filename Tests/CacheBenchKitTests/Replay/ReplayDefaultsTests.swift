import Testing

@testable import CacheBenchKit
@testable import TileCache

/// A replay without flags uses the library's default configuration.
@Suite struct ReplayDefaultsTests {
    /// Settings that the reference replay needs otherwise; `ReplayOptions.cacheConfiguration` has the reason of each.
    private let reference = ["fitsLevelToBudget": "false"]

    private func settings(_ configuration: TileCache.Configuration) -> [String: String] {
        var settings: [String: String] = [:]
        for child in Mirror(reflecting: configuration).children where child.label != "clock" {
            settings[child.label ?? ""] = "\(child.value)"
        }
        return settings
    }

    @Test(arguments: [1, 2, 4, 64])
    func everySettingIsTheLibrarys(workers: Int) {
        var options = ReplayOptions()
        options.workers = workers
        let limit = (bytes: 64 << 20, grantsBookkeeping: false)
        let own = settings(options.cacheConfiguration(limit))
        let usual = settings(TileCache.Configuration(byteLimit: .bytes(64 << 20), workers: workers))
        #expect(own.count > 10 && own.count == usual.count)
        for (name, value) in usual { #expect(own[name] == reference[name] ?? value, "\(name)") }
        #expect(reference.allSatisfy { usual[$0.key] != $0.value })
    }

    @Test func whatIsNoSettingOfTheCacheIsTheLibrarysToo() throws {
        let options = ReplayOptions()
        #expect(options.workers == TileCache.Configuration(byteLimit: .bytes(1)).workers)
        #expect(TileLevelSelection(bias: options.levelBias, hysteresis: options.hysteresis) == TileLevelSelection())
        #expect(options.pixelFormat == LayerOptions().format)
        #expect(try options.policy() is AdaptivePolicy && options.without.isEmpty)
    }

    /// The virtual clock takes all of its settings from the same place.
    @Test func theVirtualClockHasTheSameSettings() {
        var configuration = TileCache.Configuration(byteLimit: .bytes(12345), workers: 9)
        configuration.usesCompressedTier = false
        configuration.compressedShare = 0.25
        configuration.effort = 0.75
        configuration.usesValues = false
        configuration.grantsBookkeeping = true
        configuration.fitsLevelToBudget = false
        let options = VirtualCache.Options(configuration)
        #expect(options.byteLimit == 12345 && options.workers == 9)
        #expect(!options.compressedTier && options.compressedShare == 0.25 && options.effort == 0.75)
        #expect(!options.usesValues && options.grantsBookkeeping && !options.fitsBudget)
        #expect(VirtualCache.Options(TileCache.Configuration(byteLimit: .bytes(1))).fitsBudget)
    }
}
