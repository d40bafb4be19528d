/// Tiles of a level in the order of rows, and what a rule says of them.
struct CandidateCourse<Rule: CandidateRule> {
    let grid: TileGrid<CandidateSide>
    let rule: Rule
    /// The needed tiles of the level as a range, if they are known as one.
    let shown: TileRange?
    let isLevelOfView: Bool
    /// Whether nothing was learned since the last plan.
    let hasLearnedNothing: Bool

    /// Judges the tiles of a row. Returns the columns of the needed ones, which are no candidates.
    ///
    /// Apart from the bookkeeping, for which the processor has too few registers.
    @inline(__always)
    func judge(row number: Int, _ judgements: inout [CandidateJudgement]) -> Range<Int> {
        let side = grid.bounds(ofRow: number)
        let row = rule.row(from: side.low, to: side.high)
        let needed = shown?.rows.contains(number) == true ? shown?.columns ?? 0..<0 : 0..<0
        let columns = grid.columns.span
        var judged = judgements.mutableSpan
        for place in columns.indices where !needed.has(columns[place].column) {
            judged[place] = rule.judgement(columns[place].place, row)
        }
        return needed
    }

    /// Judges the same tiles as in the last plan, whose candidates lie in the list. Returns the number of candidates.
    @inline(__always)
    func update(
        _ list: inout [Candidates.Candidate],
        from first: Int,
        _ judgements: inout [CandidateJudgement],
        _ bins: inout LearnedBins
    ) -> Int {
        let columns = grid.columns.span
        var places = list.mutableSpan
        var count = first
        for number in grid.rows {
            let needed = judge(row: number, &judgements)
            let judgements = judgements.span
            // Without a profile of places, with which a tile may come twice.
            for place in columns.indices where !needed.has(columns[place].column) {
                bins.judge(
                    &places[count],
                    judgements[place],
                    popularities: nil,
                    isUnchanged: hasLearnedNothing
                )
                count += 1
            }
        }
        return count
    }
}

extension Range<Int> {
    /// Whether it contains a number, in one comparison. The range is not longer than `Int.max`.
    @inline(__always)
    func has(_ number: Int) -> Bool {
        UInt(bitPattern: number &- lowerBound) < UInt(bitPattern: upperBound &- lowerBound)
    }
}
