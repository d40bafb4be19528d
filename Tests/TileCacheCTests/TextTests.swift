import CTileCache
import Testing

@testable import TileCacheC

/// Texts that are longer than the memory for them.
@Suite struct TextTests {
    /// `tilecache_last_error` after a call that failed with a message; `nil` if it is not UTF-8.
    private func lastError(after message: String) -> String? {
        _ = attempt { () throws(Failure) in throw .argument(message) }
        return String(validatingCString: tilecache_last_error())
    }

    /// What was expected may be at either end of a long address.
    @Test(arguments: ["", "1", "12"]) func aLongErrorLacksItsMiddle(start: String) throws {
        let message = start + "expected, not " + String(repeating: "€", count: 300) + ": reason"
        let stored = try #require(lastError(after: message))
        #expect(stored.hasPrefix(start + "expected, not €") && stored.hasSuffix("€: reason"))
        #expect(stored.contains("€ ... €") && (507...511).contains(stored.utf8.count))
    }

    @Test func anErrorThatFitsIsWhole() {
        for length in [0, 1, 510, 511] {
            let message = String(repeating: "x", count: length)
            #expect(lastError(after: message) == message)
        }
        #expect(lastError(after: String(repeating: "x", count: 512))?.utf8.count == 511)
    }

    /// The length is that of all of the text, whatever fits.
    @Test func aTextIsCutBetweenCharacters() throws {
        for (capacity, expected) in [(1, ""), (2, "a"), (3, "a"), (4, "a"), (5, "a€"), (6, "a€b"), (9, "a€b")] {
            var buffer = [CChar](repeating: 1, count: capacity)
            var length = 0
            try buffer.withUnsafeMutableBufferPointer { buffer throws(Failure) in
                try write("a€b", to: buffer.baseAddress, capacity: capacity, length: &length)
            }
            #expect(length == 5)
            #expect(buffer.withUnsafeBufferPointer { String(validatingCString: $0.baseAddress!) } == expected)
        }
    }
}
