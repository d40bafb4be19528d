package import CTileCache

/// A structure of the header that begins with `struct_size` and may grow at its end.
package protocol VersionedStructure {
    /// What the _init function fills in, and what fields are that an older program does not have.
    static var defaults: Self { get }
}

/// The largest `struct_size` that is believed: one that was never set is found out in most cases.
private let largestStructureBytes = 4096
/// The most elements of an array that is read, 2^20: a count that was never set is found out in most cases.
private let mostElements = 1 << 20
private let sizeBytes = MemoryLayout<Int>.size

private func checkSize(_ bytes: Int, of name: String) throws(Failure) {
    guard bytes >= sizeBytes, bytes <= largestStructureBytes else {
        throw .argument("\(name)->struct_size must be sizeof the structure, not \(UInt(bitPattern: bytes))")
    }
}

/// Reads a structure that is as long as its program knows it.
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

/// Copies the bytes that are there over a value; bytes that this version has no field for must be 0.
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

/// Reads an array whose elements are as long as its program knows them.
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

/// Fills a structure up to the size that its program gave it, which stays as it is.
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

/// Copies what fits of a value, from some offset on, and clears what is beyond it.
func writeElement<Value>(_ value: Value, to bytes: UnsafeMutableRawPointer, byteCount: Int, from start: Int = 0) {
    let known = min(byteCount, MemoryLayout<Value>.size)
    withUnsafeBytes(of: value) { source in
        UnsafeMutableRawBufferPointer(start: bytes + start, count: known - start)
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<known]))
    }
    (bytes + known).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount - known)
}

/// What the _init functions do.
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

/// Writes text with a NUL at its end, cut to what fits, and its whole length.
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
        let count = min(bytes.count, capacity - 1)
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count]))
        target[count] = 0
    }
}
