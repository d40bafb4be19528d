import Foundation
import TestSupport
import TileCache

@testable import TileDiskStore

/// A folder that is deleted with the last reference.
final class ScratchFolder {
    let path = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { path + "/tiles.sqlite" }

    /// Bytes of all files in the folder, read from the file system.
    var byteCount: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            return sum + ((attributes?[.size] as? Int) ?? 0)
        }
    }
}

/// Tiles whose bytes follow from their names, so that a wrong one is detected.
enum MadeEntry {
    static let shape = TileStoreShape(format: .rgba8, alpha: .premultiplied, width: 256, height: 256)
    static let namespaces = (0..<3).map { TileStoreNamespace(dataSet: ["data \($0)"], shape: shape) }

    static func key(_ number: Int, namespace: Int = 0) -> TileStoreKey {
        TileStoreKey(
            namespace: namespaces[namespace],
            tile: TileCoordinate(level: 9, column: number % 100, row: number / 100)
        )
    }

    static func bytes(_ key: TileStoreKey, version: UInt64, count: Int) -> [UInt8] {
        var random = SplitMix64(seed: key.clusteredHash ^ version &* 0x9E37_79B9)
        var bytes = [UInt8](count: count, random: &random)
        // The version, from which a reader derives the rest.
        for index in 0..<min(8, count) { bytes[index] = UInt8(truncatingIfNeeded: version >> UInt64(index * 8)) }
        return bytes
    }

    static func version(of bytes: [UInt8]) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether the bytes are those of some version of a tile.
    static func isGenuine(_ bytes: [UInt8], _ key: TileStoreKey) -> Bool {
        bytes.count >= 8 && bytes.equals(self.bytes(key, version: version(of: bytes), count: bytes.count))
    }
}

extension TileDiskStore {
    @discardableResult
    func put(
        _ key: TileStoreKey,
        _ bytes: [UInt8],
        generation: UInt64 = 0,
        cost: Duration = .milliseconds(10),
        freshness: TileStoreFreshness = TileStoreFreshness(stored: 1)
    ) -> TileStorePut {
        bytes.withUnsafeBytes { payload in
            put(
                TileStoreEntry(
                    key: key,
                    shape: MadeEntry.shape,
                    generation: generation,
                    freshness: freshness,
                    kind: .encoded,
                    payload: payload
                ),
                cost: cost
            )
        }
    }

    func find(_ key: TileStoreKey) -> Result<(bytes: [UInt8], freshness: TileStoreFreshness), TileStoreMiss> {
        var found: (bytes: [UInt8], freshness: TileStoreFreshness)?
        let cause = get(key, shape: MadeEntry.shape, deadline: nil) { found = (Array($0.payload), $0.freshness) }
        if let found { return .success(found) }
        return .failure(cause ?? .failed)
    }

    func bytes(_ key: TileStoreKey) -> [UInt8]? { try? find(key).get().bytes }

    func cause(_ key: TileStoreKey) -> TileStoreMiss? {
        if case .failure(let cause) = find(key) { cause } else { nil }
    }

    /// Runs queued work until the filter is complete.
    func completeFilter() {
        for _ in 0..<1000 where presence(of: MadeEntry.key(0)) == .unknown { flush() }
    }
}

extension TileDiskStoreOptions {
    static func test(_ disk: FaultyDisk? = nil, buffer: ByteCount = .mebibytes(4)) -> TileDiskStoreOptions {
        // Batches are written by flush(), so that a run can be repeated.
        var options = TileDiskStoreOptions(
            writeBuffer: buffer,
            longestWait: .seconds(10),
            writeDelay: .seconds(3600)
        )
        options.vfs = disk?.name
        return options
    }
}
