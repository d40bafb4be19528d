import Foundation
package import TileCache

// Loops over all bytes of tiles and files. `Scripts/test` optimises this target, and the targets of tests it does not:
// there each step of such a loop is some calls of the standard library's generic functions, and the loops took a third
// of the time of all tests.

extension UnsafeRawBufferPointer {
    /// Whether these are exactly those bytes.
    package func equals(_ other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress else { return true }
        return other.withUnsafeBytes { memcmp(start, $0.baseAddress!, count) == 0 }
    }

    /// Whether all whole words are a value, and the first is its inverse.
    package func areWords(_ value: UInt32) -> Bool {
        guard loadUnaligned(as: UInt32.self) == ~value else { return false }
        for offset in stride(from: 4, to: count - 3, by: 4)
        where loadUnaligned(fromByteOffset: offset, as: UInt32.self) != value {
            return false
        }
        return true
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Makes all whole words a value, and the first its inverse.
    package func fillWords(_ value: UInt32) {
        for offset in stride(from: 0, to: count - 3, by: 4) {
            storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
        }
        storeBytes(of: ~value, toByteOffset: 0, as: UInt32.self)
    }
}

extension [UInt8] {
    /// Whether both are the same bytes.
    package func equals(_ other: [UInt8]) -> Bool { withUnsafeBytes { $0.equals(other) } }

    /// The largest difference of two bytes at the same place.
    package func greatestDifference(from other: [UInt8]) -> Int {
        var most = 0
        for index in 0..<Swift.min(count, other.count) {
            most = Swift.max(most, abs(Int(self[index]) - Int(other[index])))
        }
        return most
    }

    /// Random bytes, eight from each number; up to seven zeros at the end.
    package init(count: Int, random: inout SplitMix64) {
        self.init(repeating: 0, count: count)
        withUnsafeMutableBytes { bytes in
            for offset in stride(from: 0, to: count - 7, by: 8) {
                bytes.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
            }
        }
    }

    /// Adler's checksum, with which a zlib stream ends.
    package var adler32: UInt32 {
        var (first, second): (UInt32, UInt32) = (1, 0)
        for byte in self {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        return second << 16 | first
    }
}

/// Bytes that follow from a name. A third of the names has one value, a third compresses well and a third hardly.
package struct NamedBytes {
    private let name: UInt64

    package init(name: UInt64) { self.name = name }

    package func byte(_ index: Int) -> UInt8 {
        switch name % 3 {
        case 0: UInt8(truncatingIfNeeded: name >> 8)
        case 1: UInt8(truncatingIfNeeded: name &+ UInt64(index / 16))
        default: UInt8(truncatingIfNeeded: SplitMix64.mixed(name ^ UInt64(index)))
        }
    }

    package func fill(_ memory: UnsafeMutableRawBufferPointer) {
        for index in memory.indices { memory[index] = byte(index) }
    }

    /// The first place with another byte.
    package func firstDifference(from memory: UnsafeRawBufferPointer) -> Int? {
        memory.indices.first { memory[$0] != byte($0) }
    }
}
