extension Sequence {
    /// Calls `body` with the elements in order, in parts: for work that releases a lock in between.
    ///
    /// - Parameter count: Elements of each part but the last, at least 1.
    func forEachPart(of count: Int, _ body: ([Element]) -> Void) {
        var rest = makeIterator()
        while true {
            let part = (0..<count).compactMap { _ in rest.next() }
            guard !part.isEmpty else { return }
            body(part)
        }
    }
}
