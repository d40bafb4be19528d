internal import CTileCache
internal import TileCache

/// Object behind `tilecache_frame` and `tilecache_texture_frame`: a frame, and the arrays that a program reads from it.
///
/// Arrays are created on demand and allocated as long as the object exists. There are several of one list if programs
/// of several versions read it.
final class FrameHandle<Frame: Sendable>: Sendable {
    let frame: Frame
    private let arrays = Lock<[Array: UInt]>([:])

    /// A list of a frame.
    enum Content { case placements, appeared, disappeared, unavailable, late, uploads }

    /// An array of a list, and the size of its elements.
    private struct Array: Hashable {
        var content: Content
        var elementBytes: Int
    }

    init(_ frame: Frame) { self.frame = frame }

    deinit {
        for address in arrays.withLock({ $0.values }) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    /// The array of a list, `nil` if it is empty, and its length.
    func array<List: Collection, Element>(
        _ content: Content,
        of list: List,
        elementBytes bytes: Int = MemoryLayout<Element>.size,
        element: (List.Element) -> Element
    ) -> (UnsafeRawPointer?, Int) {
        let count = list.count
        guard count > 0 else { return (nil, 0) }
        let array = Array(content: content, elementBytes: bytes)
        let address = arrays.withLock { arrays -> UInt in
            if let address = arrays[array] { return address }
            let memory = UnsafeMutableRawPointer.allocate(byteCount: count * bytes, alignment: 16)
            for (index, item) in list.enumerated() {
                writeElement(element(item), to: memory + index * bytes, byteCount: bytes)
            }
            arrays[array] = UInt(bitPattern: memory)
            return UInt(bitPattern: memory)
        }
        return (UnsafeRawPointer(bitPattern: address), count)
    }
}

/// Returns an array of an object and its length.
func hand<Handle, Element>(
    _ handle: @autoclosure () throws(Failure) -> Handle,
    to array: UnsafeMutablePointer<UnsafePointer<Element>?>?,
    _ name: String,
    _ count: UnsafeMutablePointer<Int>?,
    _ list: (Handle) throws(Failure) -> (UnsafeRawPointer?, Int)
) -> tilecache_status {
    attempt(on: try handle()) { handle throws(Failure) in
        guard let array else { throw .isNull(name) }
        guard let count else { throw .isNull("count") }
        let (elements, number) = try list(handle)
        array.pointee = elements?.assumingMemoryBound(to: Element.self)
        count.pointee = number
    }
}

/// Checks the size of elements, which keeps their pointers and doubles aligned.
func checkElementSize<Element>(_ bytes: Int, of _: Element.Type, _ rule: String) throws(Failure) {
    guard (MemoryLayout<Element>.size...4096).contains(bytes), bytes % 8 == 0 else {
        throw .argument("\(rule), not \(UInt(bitPattern: bytes))")
    }
}
