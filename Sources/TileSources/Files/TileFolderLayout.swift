/// Names of the files of a folder of tiles.
public struct TileFolderLayout: Hashable, Sendable, CustomStringConvertible {
    /// Order of the numbers in a path.
    public enum Order: String, CaseIterable, Sendable {
        /// `z/x/y`, row 0 at the top: web maps, `gdal2tiles --xyz`.
        case xyz
        /// `z/x/y`, row 0 at the bottom: `gdal2tiles`.
        case tms
        /// `z/y/x`, row 0 at the top: the `google` layout of libvips.
        case zyx
    }

    /// Order of the numbers.
    public var order: Order
    /// Whether the tiles are the files with `@2x` before the extension. They have twice the pixels a side.
    public var isDoubled: Bool

    /// Creates a layout.
    public init(_ order: Order, isDoubled: Bool = false) {
        (self.order, self.isDoubled) = (order, isDoubled)
    }

    /// Parses a ``description`` such as `xyz` or `zyx@2x`; `nil` for other text.
    public init?(_ text: some StringProtocol) {
        let isDoubled = text.hasSuffix(Self.doubled)
        guard let order = Order(rawValue: String(isDoubled ? text.dropLast(Self.doubled.count) : text[...])) else {
            return nil
        }
        self.init(order, isDoubled: isDoubled)
    }

    /// Name in addresses: the order, and `@2x` if the tiles are doubled.
    public var description: String { order.rawValue + suffix }

    private static let doubled = "@2x"
    static let extensions = ["png", "jpg", "jpeg", "webp"]

    /// What the files have before their extension.
    var suffix: String { isDoubled ? Self.doubled : "" }
    /// Path of a tile, in words.
    var form: String { "z/\(order == .zyx ? "y/x" : "x/y")\(suffix)" }
    /// Paths of the tiles' files within the folder, without the extension.
    var template: String {
        "\(order == .zyx ? "{z}/{y}/{x}" : order == .tms ? "{z}/{x}/{-y}" : "{z}/{x}/{y}")\(suffix)"
    }

    /// Number and extension of a tile's file. `nil` for files that are not tiles of this layout.
    func parts(ofFile name: String, within range: ClosedRange<Int>) -> (number: Int, ending: String)? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let (stem, ending) = (name[..<dot], String(name[name.index(after: dot)...]))
        guard Self.extensions.contains(ending.lowercased()), stem.hasSuffix(suffix),
            let number = Self.number(String(stem.dropLast(suffix.count)), within: range)
        else { return nil }
        return (number, ending)
    }

    /// Parses a number in a path: digits only, no leading zeros.
    static func number(_ text: String, within range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
        return range.contains(number) && text == "\(number)" ? number : nil
    }
}
