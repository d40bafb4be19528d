package import TileCache

/// Draws of the standard library, too.
extension SplitMix64: RandomNumberGenerator {
    /// A number in 0 ..< bound.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True once in `chances` on average.
    package mutating func oneIn(_ chances: Int) -> Bool { below(chances) == 0 }

    package mutating func element<Element>(of array: [Element]) -> Element { array[below(array.count)] }
}

extension [TileCoordinate] {
    /// Sorted, so that a drawn one is the same in each run. Sorting in code that is not optimised takes long.
    package var inOrder: [TileCoordinate] { sorted() }
}
