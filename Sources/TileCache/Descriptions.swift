extension LayerOptions: CustomStringConvertible {
    /// The format, then what differs from the defaults, as "rgba8, premultiplied, at most 50.0 % of the limit".
    public var description: String {
        var parts = ["\(format)", "\(alpha)"]
        if !isCompressible { parts.append("never compressed") }
        if maximumShare != 1 { parts.append("at most \(Wording.percent(maximumShare)) of the limit") }
        if synthesizedLevels != 0 {
            parts.append("\(Wording.some(synthesizedLevels, "synthesized level")) (\(downsampling))")
        }
        if prefetch != .standard { parts.append("prefetch: \(prefetch)") }
        if let profile { parts.append("profile of \(Wording.some(profile.sessions, "session"))") }
        if let stores { parts.append(Wording.some(stores.stores.count, "store")) }
        return parts.joined(separator: ", ")
    }
}

extension TileCache.Configuration: CustomStringConvertible {
    /// The limit and the workers, then what differs from the defaults.
    public var description: String {
        let defaults = TileCache.Configuration(byteLimit: byteLimit)
        var parts = ["\(byteLimit)", Wording.some(workers, "worker"), "effort \(Wording.number(effort))"]
        if let maximumByteLimit { parts.append("maximum limit \(maximumByteLimit)") }
        if !usesCompressedTier { parts.append("no compressed tier") }
        if let compressedShare { parts.append("compressed share \(Wording.percent(compressedShare))") }
        if !fitsLevelToBudget { parts.append("levels do not fit the limit") }
        let times: [(KeyPath<TileCache.Configuration, Duration>, String)] = [
            (\.expectedLoadLatency, "expected load"), (\.retryDelay, "retry delay"), (\.stuckLoadTime, "stuck after"),
            (\.slowCallbackTime, "slow callback after"),
        ]
        for (field, name) in times where self[keyPath: field] != defaults[keyPath: field] {
            parts.append("\(name) \(Wording.time(self[keyPath: field]))")
        }
        return parts.joined(separator: ", ")
    }
}

extension TilePixelFormat: CustomStringConvertible {
    /// As "rgba8", "opaque(bytesPerTile: 32768)".
    public var description: String {
        switch self {
        case .rgba8: "rgba8"
        case .bgra8: "bgra8"
        case .gray8: "gray8"
        case .gray16: "gray16"
        case .rgba16: "rgba16"
        case .float32: "float32"
        // As without this property: names of data sets contain it.
        case .opaque(let bytes): "opaque(bytesPerTile: \(bytes))"
        }
    }
}

extension PrefetchAllowance: CustomStringConvertible {
    /// As "never", "priced, effort 0.3, at most 60 requests a minute".
    public var description: String {
        switch self {
        case .never: return "never"
        case .resident: return "resident"
        case .priced(let terms):
            var parts = ["priced"]
            if let effort = terms.effort { parts.append("effort \(Wording.rounded(effort))") }
            if let requests = terms.requestsPerMinute {
                parts.append("at most \(Wording.some(requests, "request")) a minute")
            }
            if let bytes = terms.bytesPerMinute { parts.append("at most \(bytes) a minute") }
            return parts.joined(separator: ", ")
        }
    }
}

extension LayerID: CustomStringConvertible {
    /// As "layer 0": its number in its cache.
    public var description: String { "layer \(serial)" }
}

extension TileLayer: CustomStringConvertible {
    /// As "layer 0".
    public var description: String { "\(id)" }
}

extension TileIdentity: CustomStringConvertible {
    /// As "layer 0, 4/2/1, generation 1".
    public var description: String { "\(layer), \(tile), generation \(generation)" }
}

extension LeasedTile: CustomStringConvertible {
    /// As "layer 0, 4/2/1, generation 1: 256 x 256 rgba8".
    public var description: String { "\(identity): \(width) x \(height) \(format)\(isStale ? ", stale" : "")" }
}

extension TilePlacement: CustomStringConvertible {
    /// As "layer 0, 4/2/1, generation 1: 256 x 256 rgba8, exact, 256 x 256 at (512, 256)".
    public var description: String {
        "\(tile), \(isExact ? "exact" : "fallback")\(isCoarsened ? ", coarser than asked for" : ""), \(worldRectangle)"
    }
}
