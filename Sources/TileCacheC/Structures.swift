package import CTileCache

/// A structure of the header that begins with `struct_size` and may grow at its end.
package protocol VersionedStructure {
    /// All fields are 0.
    init()
    /// Values of the _init function, and of fields that an older program does not have. Default: all fields are 0.
    static var defaults: Self { get }
}

extension VersionedStructure {
    package static var defaults: Self { Self() }
}

/// Largest accepted `struct_size`; detects most uninitialized ones.
private let largestStructureBytes = 4096
/// Maximum number of elements of an array, 2^20; detects most uninitialized counts.
private let mostElements = 1 << 20
private let sizeBytes = MemoryLayout<Int>.size

/// Checks what a program declares as the size of a structure.
func checkSize(_ bytes: Int, of name: String) throws(Failure) {
    guard bytes >= sizeBytes, bytes <= largestStructureBytes else {
        throw .argument("\(name)->struct_size must be sizeof the structure, not \(UInt(bitPattern: bytes))")
    }
}

/// Reads a structure of the size that the program declares.
package func read<Structure: VersionedStructure>(
    _ pointer: UnsafePointer<Structure>?,
    _ name: String
) throws(Failure) -> Structure {
    guard let pointer else { throw .isNull(name) }
    let bytes = UnsafeRawPointer(pointer)
    let size = bytes.loadUnaligned(as: Int.self)
    try checkSize(size, of: name)
    return try readElement(bytes, byteCount: size, over: .defaults, name)
}

/// Reads a structure, or the defaults for NULL.
package func readOrDefaults<Structure: VersionedStructure>(
    _ pointer: UnsafePointer<Structure>?,
    _ name: String
) throws(Failure) -> Structure {
    pointer == nil ? .defaults : try read(pointer, name)
}

/// Copies the given bytes over a value; bytes beyond this version's fields must be 0.
func readElement<Value>(
    _ bytes: UnsafeRawPointer,
    byteCount: Int,
    over value: Value,
    _ name: String
) throws(Failure) -> Value {
    let known = min(byteCount, MemoryLayout<Value>.size)
    for offset in known..<byteCount where bytes.load(fromByteOffset: offset, as: UInt8.self) != 0 {
        throw .unsupported("\(name) has a field set at byte \(offset); this version knows \(known) bytes")
    }
    var value = value
    withUnsafeMutableBytes(of: &value) { $0.baseAddress?.copyMemory(from: bytes, byteCount: known) }
    return value
}

/// Reads an array of elements of the size that the program declares.
func readArray<Value>(
    _ pointer: UnsafePointer<Value>?,
    count: Int,
    elementBytes: Int,
    zero: Value,
    _ name: String
) throws(Failure) -> [Value] {
    guard count != 0 else { return [] }
    guard let pointer else { throw .isNull(name) }
    guard (MemoryLayout<Value>.size...largestStructureBytes).contains(elementBytes) else {
        throw .argument("\(name): sizeof an element is expected, not \(UInt(bitPattern: elementBytes))")
    }
    guard (1...mostElements).contains(count) else {
        throw .argument("\(name): at most \(mostElements) elements are expected, not \(UInt(bitPattern: count))")
    }
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in 0..<count {
        let element = UnsafeRawPointer(pointer) + index * elementBytes
        values.append(try readElement(element, byteCount: elementBytes, over: zero, "\(name)[\(index)]"))
    }
    return values
}

/// Writes a structure up to its `struct_size`, which is kept.
package func write<Structure: VersionedStructure>(
    _ value: Structure,
    to pointer: UnsafeMutablePointer<Structure>?,
    _ name: String
) throws(Failure) {
    guard let pointer else { throw .isNull(name) }
    let size = UnsafeRawPointer(pointer).loadUnaligned(as: Int.self)
    try checkSize(size, of: name)
    writeElement(value, to: UnsafeMutableRawPointer(pointer), byteCount: size, from: sizeBytes)
}

/// Copies a value from an offset on, as far as it fits. Clears the bytes beyond it.
func writeElement<Value>(_ value: Value, to bytes: UnsafeMutableRawPointer, byteCount: Int, from start: Int = 0) {
    let known = min(byteCount, MemoryLayout<Value>.size)
    withUnsafeBytes(of: value) { source in
        UnsafeMutableRawBufferPointer(start: bytes + start, count: known - start)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<known]))
    }
    (bytes + known).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount - known)
}

/// Implements the _init functions.
package func initialize<Structure: VersionedStructure>(
    _ pointer: UnsafeMutablePointer<Structure>?,
    size: Int,
    _ name: String
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let pointer else { throw .isNull(name) }
        try checkSize(size, of: name)
        UnsafeMutableRawPointer(pointer).storeBytes(of: size, as: Int.self)
        try write(.defaults, to: pointer, name)
    }
}

/// Writes text ended by a NUL, whole characters as far as they fit, and its whole length.
package func write(
    _ text: String,
    to buffer: UnsafeMutablePointer<CChar>?,
    capacity: Int,
    length: UnsafeMutablePointer<Int>?
) throws(Failure) {
    guard buffer != nil || capacity == 0 else { throw .isNull("text") }
    guard capacity >= 0 else { throw .argument("a capacity of \(UInt(bitPattern: capacity)) bytes cannot be") }
    var text = text
    text.withUTF8 { bytes in
        length?.pointee = bytes.count
        guard let buffer, capacity > 0 else { return }
        var count = min(bytes.count, capacity - 1)
        // Whole characters: the byte after the cut begins one.
        while count > 0, count < bytes.count, bytes[count] & 0xC0 == 0x80 { count -= 1 }
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count]))
        target[count] = 0
    }
}
