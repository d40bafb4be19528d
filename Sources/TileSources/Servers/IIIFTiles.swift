import TileCache

/// Addresses of an image's tiles, and of what writers of static sets make of them.
///
/// A server that cuts images answers canonical requests at the address that its description states. Sets of files often
/// do not: their `id` is a placeholder, their format is another than JPEG, which is not always stated, or the one tile
/// of a small image is not at `full/max`. While no tile has come, a tile that is not there is looked for at those
/// addresses too. What is found holds for the others.
final class IIIFTiles: ServerTiles {
    private struct Form {
        var base: String
        var format: String
    }

    private struct State {
        /// Index of the form that has tiles.
        var form: Int?
        /// The same for requests of the whole image.
        var whole: Int?
        /// Tiles that were looked for everywhere in vain.
        var vain = 0
    }

    /// Tiles that are looked for at all addresses. After them the set is taken to be sparse.
    private static let mostVain = 8

    private let image: IIIFImage
    private let forms: [Form]
    private let state = Lock(State())

    init(_ image: IIIFImage) {
        self.image = image
        let bases =
            image.isPlaceholder ? [image.own] : image.own == image.base ? [image.base] : [image.base, image.own]
        let formats = image.isStatic ? [image.format] + IIIFImage.formats.filter { $0 != image.format } : [image.format]
        forms = bases.flatMap { base in formats.map { Form(base: base, format: $0) } }
    }

    func placement(of tile: TileCoordinate) -> ImagePlacement { image.placement(of: tile) }

    func address(of tile: TileCoordinate) -> String? { addresses(of: tile)[0].address }

    func addresses(of tile: TileCoordinate) -> [ServedAddress] {
        let state = state.withLock { $0 }
        let looks = state.vain < Self.mostVain
        let forms = state.form.map { [$0] } ?? (looks ? Array(forms.indices) : [0])
        let isWhole = image.isStatic && image.showsAll(tile)
        let wholes = isWhole ? state.whole.map { [$0] } ?? (looks ? Array(0..<IIIFImage.wholeForms) : [0]) : [0]
        var found: [ServedAddress] = []
        for form in forms {
            for whole in wholes {
                let own = self.forms[form]
                let address = image.address(of: tile, base: own.base, format: own.format, whole: whole)
                guard !found.contains(where: { $0.address == address }) else { continue }
                found.append(ServedAddress(address: address, form: form * IIIFImage.wholeForms + whole))
            }
        }
        return found
    }

    func isThere(_ address: ServedAddress, _ tile: TileCoordinate) {
        state.withLock { state in
            if state.form == nil { state.form = address.form / IIIFImage.wholeForms }
            if state.whole == nil, image.showsAll(tile) { state.whole = address.form % IIIFImage.wholeForms }
        }
    }

    func isNowhere(_ tile: TileCoordinate) { state.withLock { $0.vain += 1 } }

    var warning: String? {
        if image.isPlaceholder {
            return "its id, \(image.base), is a placeholder: tiles are asked for at the description's own address"
        }
        if let id = image.relativeID {
            return "its id, \(id), is no address: tiles are asked for at the description's own address"
        }
        let form = state.withLock { $0.form }
        guard let form, forms[form].base != image.base else { return nil }
        return "tiles come from the description's own address, not from its id, \(image.base)"
    }
}
