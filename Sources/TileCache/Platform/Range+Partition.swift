extension Range<Int> {
    /// Finds the first number for which a condition holds, by binary search. The condition then holds for all later
    /// numbers too.
    ///
    /// - Returns: The upper bound if the condition holds for none.
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
