public import CTileCache
internal import TileCache
internal import TileCacheC
internal import TileDiskStore
internal import TileSharedStore

extension StoreAddress {
    /// Opens the store.
    ///
    /// - Throws: `Failure` with the status of an invalid store.
    func open() throws(Failure) -> any TileStore {
        do {
            switch self {
            case .disk(let path, let limit): return try TileDiskStore(path: path, byteLimit: .bytes(limit))
            case .memcached(let servers): return try TileSharedStore(servers)
            }
        } catch {
            throw .invalidStore("\(error)")
        }
    }
}

/// See `tilecache_sources.h`.
@c(tilecache_store_open)
public func tileCacheStoreOpen(
    _ address: UnsafePointer<CChar>?,
    _ store: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let address else { throw .isNull("address") }
        guard let store else { throw .isNull("store") }
        // A repaired path would be that of another folder.
        guard let text = String(validatingCString: address) else { throw .invalidStore("address must be UTF-8") }
        let place: StoreAddress
        do throws(StoreAddressError) { place = try StoreAddress(text) } catch { throw .invalidStore(error.description) }
        store.pointee = makeHandle(StoreHandle(try place.open()))
    }
}
