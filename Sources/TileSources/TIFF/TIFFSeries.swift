/// Which directories of a file's chain begin pictures: images of OME-XML, series of tifffile.
enum TIFFSeries {
    /// Each one.
    case all
    /// Those that tifffile describes.
    case described
    /// Those that are no smaller versions and masks.
    case unmarked
    /// The one picture that is wanted, at this place from 0.
    case place(Int)

    /// How tifffile describes the first page of a series.
    private static let shaped = "{\"shape\""

    /// - Parameters:
    ///   - first: The first directory of the file.
    ///   - number: The picture that is wanted, from 1.
    /// - Throws: If an OME-XML says that there is no such one, or that it is in another file.
    init(of first: TIFFDirectory, _ number: Int, _ bytes: inout TIFFBytes) throws(TileSourceError) {
        let text = try first.text(.imageDescription, &bytes) ?? ""
        if text.contains("<OME"), let root = try? XMLElement(Array(text.utf8), path: bytes.name, limit: 1 << 20),
            case let places = Self.places(root, in: bytes.name), !places.isEmpty
        {
            guard number <= places.count else {
                let found = places.count == 1 ? "1 was" : "1 to \(places.count) were"
                throw TileSourceError(bytes.name, "series \(found) expected, not \(number)")
            }
            guard let place = places[number - 1] else {
                throw TileSourceError(bytes.name, "series \(number) is not in this file")
            }
            self = .place(place)
            return
        }
        self = text.hasPrefix(Self.shaped) ? .described : .unmarked
    }

    /// Whether the place is known.
    var isPlaced: Bool { if case .place = self { true } else { false } }

    /// Starts up to the picture of a number, itself included.
    func wanted(_ number: Int) -> Int { isPlaced ? 1 : number }

    /// Whether a picture begins with a directory at a place of the chain.
    func hasStart(
        _ directory: TIFFDirectory,
        at place: Int,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> Bool {
        switch self {
        case .all: true
        case .place(let wanted): place == wanted
        case .described: try directory.text(.imageDescription, &bytes)?.hasPrefix(Self.shaped) == true
        case .unmarked:
            try directory.number(.newSubfileType, 0...Int(UInt32.max), default: 0, &bytes) & 5 == 0
        }
    }

    /// The directory of the first plane of each image; `nil` for an image in another file. One that states none follows
    /// the planes of those before.
    private static func places(_ root: XMLElement, in file: String) -> [Int?] {
        var (places, next) = ([Int?](), 0)
        func planes(_ image: XMLElement) -> [XMLElement] { image.child("Pixels")?.children("TiffData") ?? [] }
        // A single file may have been renamed.
        let names = Set(root.children("Image").flatMap(planes).map { $0.child("UUID")?.attributes["FileName"] })
        for image in root.children("Image") {
            let all = planes(image)
            let parts = names.count <= 1 ? all : all.filter { isOwn($0, root, file) }
            guard image.child("Pixels") != nil, all.isEmpty || !parts.isEmpty else {
                places.append(nil)
                continue
            }
            let start = parts.compactMap { $0.attributes["IFD"].flatMap { Int($0) } }.min() ?? next
            let planes = parts.map { $0.attributes["PlaneCount"].flatMap { Int($0) } ?? 1 }
            places.append(max(start, 0))
            next = start &+ max(planes.reduce(0, &+), 1)
        }
        return places
    }

    /// Whether planes are in this file: by the identifier that it states of itself, else by its name.
    private static func isOwn(_ part: XMLElement, _ root: XMLElement, _ file: String) -> Bool {
        guard let other = part.child("UUID") else { return true }
        let id = other.text.filter { !$0.isWhitespace }
        if let own = root.attributes["UUID"], !id.isEmpty { return own == id }
        let name = file.prefix { !HTTPAddress.begins(file) || $0 != "?" }.split(separator: "/").last
        return other.attributes["FileName"].map { $0 == name.map(String.init) } ?? true
    }
}
