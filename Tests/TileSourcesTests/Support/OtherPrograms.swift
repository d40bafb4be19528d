import TestSupport

@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Other programs, if they are installed: `apt-get install gdal-bin python3-gdal libvips-tools libtiff-tools`,
/// `pip install pmtiles`.
enum OtherPrograms {
    static let vips = isThere("vips")
    static let gdal = isThere("gdal_translate") && isThere("gdaladdo")
    static let tiffcp = isThere("tiffcp")
    /// PyPI's pmtiles, for the python3 of the path.
    static let pmtiles = run("python3 -c 'import pmtiles.convert'")
    /// PyPI's MapProxy, for the python3 of the path.
    static let mapProxy = run("python3 -c 'import mapproxy.seed.script'")
    static let mapCache = isThere("mapcache_seed")
    static let openssl = isThere("openssl")
    static let gdalTiles = OtherReaders.gdal != nil && isThere("gdal2tiles.py")

    private static func isThere(_ program: String) -> Bool { system("command -v \(program) >/dev/null 2>&1") == 0 }

    /// Runs a shell command; returns whether it succeeded.
    static func run(_ command: String) -> Bool { system("\(command) >/dev/null 2>&1") == 0 }

    /// Makes `certificate.pem` and `key.pem` of a server on loopback; returns whether that succeeded.
    static func makeCertificate(in folder: String, names: String = "IP:127.0.0.1") -> Bool {
        run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=127.0.0.1 "
                + "-addext subjectAltName=\(names) -keyout '\(folder)/key.pem' -out '\(folder)/certificate.pem'"
        )
    }

    /// Bytes of a file that a program has written.
    static func bytes(_ path: String) -> [UInt8]? {
        guard case .bytes(let bytes) = Files.read(path) else { return nil }
        return bytes.array
    }

    /// An image as libvips decodes it, red, green, blue and alpha.
    static func decodedByVips(_ path: String, in folder: ScratchFolder, width: Int, height: Int) -> TestImage? {
        let raw = "\(folder.path)/decoded.raw"
        return run("vips rawsave '\(path)' '\(raw)'") ? image(raw, width: width, height: height) : nil
    }

    /// Many images as libvips decodes them, by one process: each takes longer to start than to decode an image.
    ///
    /// - Parameter size: Of the largest one. Each is at the left top of such a part, and below the one before.
    static func decodedByVips(
        _ paths: [String],
        in folder: ScratchFolder,
        largest size: (width: Int, height: Int)
    ) -> TestImage? {
        let raw = "\(folder.path)/decoded.raw"
        guard run("vips arrayjoin '\(paths.joined(separator: " "))' '\(raw)' --across 1") else { return nil }
        return image(raw, width: size.width, height: size.height * paths.count)
    }

    /// Samples that libvips wrote. Images without alpha are opaque.
    private static func image(_ raw: String, width: Int, height: Int) -> TestImage? {
        guard let bytes = bytes(raw) else { return nil }
        let isOpaque = bytes.count == width * height * 3
        guard isOpaque || bytes.count == width * height * 4 else { return nil }
        return TestImage(width: width, height: height, pixels: isOpaque ? RGBAPixels.opaque(bytes) : bytes)
    }

    /// A raster, or a part of it, that GDAL decodes.
    struct Raster {
        var path: String
        /// Options for opening it, by spaces.
        var options = ""
        /// Left, top, right and bottom in the raster's coordinates, by spaces; empty for all of it.
        var window = ""
    }

    /// Rasters as GDAL decodes them, red, green, blue and alpha, by one process. `nil` for each that it cannot read.
    static func decodedByGDAL(
        _ rasters: [Raster],
        by python: String,
        in folder: ScratchFolder,
        width: Int,
        height: Int
    ) -> [TestImage?] {
        let lines = rasters.map { "\($0.path)|\($0.options)|\($0.window)\n" }.joined()
        let list = folder.write(Array(lines.utf8), to: "rasters")
        guard OtherReaders.run(python, "translate '\(list)' '\(folder.path)/decoded.'") else { return [] }
        return rasters.indices.map { index in
            guard let bytes = bytes("\(folder.path)/decoded.\(index)"), bytes.count == width * height * 4 else {
                return nil
            }
            return TestImage(width: width, height: height, pixels: bytes)
        }
    }

    /// Whether two images look the same. A fully transparent decoded pixel matches any fully transparent pixel, and any
    /// pixel unless `knowsAlpha`.
    static func showTheSame(_ image: TestImage, _ decoded: TestImage, knowsAlpha: Bool) -> Bool {
        RGBAPixels.showTheSame(image.pixels, decoded.pixels, knowsAlpha: knowsAlpha)
    }
}
