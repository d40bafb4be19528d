extension Range<Int> {
    /// Finds the first number for which a condition holds that then holds for all after it, by binary search.
    ///
    /// - Returns: The upper bound if it holds for none.
    @inlinable
    package func partitioningIndex(where condition: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
