/// Pictures of several pages: images of OME-XML, series of tifffile.
enum TIFFSeries {
    /// Places in a file's chain of directories at which pictures begin.
    static func starts(_ directories: [TIFFDirectory], _ bytes: inout TIFFBytes) throws(TileSourceError) -> [Int] {
        let text = try directories[0].text(.imageDescription, &bytes) ?? ""
        if text.contains("<OME"), let root = try? XMLElement(Array(text.utf8), path: bytes.name, limit: 1 << 20) {
            let found = ofOME(root).filter { $0 < directories.count }
            if !found.isEmpty { return found }
        }
        let isShaped = text.hasPrefix(shaped)
        var starts: [Int] = []
        for (index, directory) in directories.enumerated() {
            if isShaped {
                guard try directory.text(.imageDescription, &bytes)?.hasPrefix(shaped) == true else { continue }
            } else {
                let kind = try directory.number(.newSubfileType, 0...Int(UInt32.max), default: 0, &bytes)
                guard kind & 5 == 0 else { continue }
            }
            starts.append(index)
        }
        // Where all are marked as smaller versions, the first is a picture, too.
        return starts.isEmpty ? [0] : starts
    }

    /// How tifffile describes the first page of a series.
    private static let shaped = "{\"shape\""

    /// The directory of the first plane of each image. One that states none follows the planes of those before.
    private static func ofOME(_ root: XMLElement) -> [Int] {
        var (starts, next) = ([Int](), 0)
        for image in root.children("Image") {
            guard let pixels = image.child("Pixels") else { continue }
            let parts = pixels.children("TiffData")
            let start = parts.compactMap { $0.attributes["IFD"].flatMap { Int($0) } }.min() ?? next
            let planes = parts.map { $0.attributes["PlaneCount"].flatMap { Int($0) } ?? 1 }
            starts.append(max(start, 0))
            next = start &+ max(planes.reduce(0, &+), 1)
        }
        return starts
    }
}
