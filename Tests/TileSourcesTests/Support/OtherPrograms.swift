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
    static let gdalTiles = gdal && isThere("gdal2tiles.py")

    private static func isThere(_ program: String) -> Bool { system("command -v \(program) >/dev/null 2>&1") == 0 }

    /// Runs a shell command; returns whether it succeeded.
    static func run(_ command: String) -> Bool { system("\(command) >/dev/null 2>&1") == 0 }

    /// Bytes of a file that a program has written.
    static func bytes(_ path: String) -> [UInt8]? {
        guard case .bytes(let bytes) = Files.read(path) else { return nil }
        return bytes
    }

    /// An image as libvips decodes it, red, green, blue and alpha.
    static func decodedByVips(_ path: String, in folder: ScratchFolder, width: Int, height: Int) -> TestImage? {
        let raw = "\(folder.path)/decoded.raw"
        guard run("vips rawsave '\(path)' '\(raw)'"), let bytes = bytes(raw) else { return nil }
        guard bytes.count == width * height * 3 else {
            return bytes.count == width * height * 4 ? TestImage(width: width, height: height, pixels: bytes) : nil
        }
        // Images without alpha are opaque.
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for pixel in stride(from: 0, to: bytes.count, by: 3) { pixels += bytes[pixel..<pixel + 3] + [255] }
        return TestImage(width: width, height: height, pixels: pixels)
    }

    /// A part of a raster as GDAL decodes it, red, green, blue and alpha.
    static func decodedByGDAL(
        _ path: String,
        _ arguments: String,
        in folder: ScratchFolder,
        width: Int,
        height: Int
    ) -> TestImage? {
        let raw = "\(folder.path)/decoded.bin"
        guard run("gdal_translate -q -of ENVI -co INTERLEAVE=BIP \(arguments) '\(path)' '\(raw)'"),
            let bytes = bytes(raw), bytes.count == width * height * 4
        else { return nil }
        return TestImage(width: width, height: height, pixels: bytes)
    }

    /// Whether two images look the same. A fully transparent decoded pixel matches any fully transparent pixel, and any
    /// pixel unless `knowsAlpha`.
    static func showTheSame(_ image: TestImage, _ decoded: TestImage, knowsAlpha: Bool) -> Bool {
        for pixel in stride(from: 0, to: decoded.pixels.count, by: 4) {
            if decoded.pixels[pixel + 3] == 0, !knowsAlpha || image.pixels[pixel + 3] == 0 { continue }
            guard image.pixels[pixel..<pixel + 4] == decoded.pixels[pixel..<pixel + 4] else { return false }
        }
        return true
    }
}
