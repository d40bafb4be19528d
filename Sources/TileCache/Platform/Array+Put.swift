extension Array {
    /// Replaces the element at an index, or appends it if the index is the end.
    mutating func put(_ element: Element, at index: Int) {
        if index < count { self[index] = element } else { append(element) }
    }
}
