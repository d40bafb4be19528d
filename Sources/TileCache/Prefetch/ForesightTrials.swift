/// Bets under way: each says that a tile of some bin will be demanded before the horizon. How they end teaches the odds.
///
/// A ring of the newest ones; where there are too many, the oldest end unheard.
struct ForesightTrials: Sendable {
    /// The most trials at a time; a power of two.
    let capacity: Int
    /// What one trial weighs against the prior: neighbouring tiles are needed together, so they are not as many
    /// independent events. At 0.5 `trackpad_wheel` loses .01 of its hits, at 1 .046, and both waste more.
    static let weight = 0.25
    /// How far ahead a trial looks, in demands: about one cache full, within these bounds. With 300 `starcraft_view` at
    /// 12 screens wastes .16 more and closes .02 less of the gap.
    static let horizon = 32...60

    private struct Trial {
        var key: TileKey
        var bin: Int32
        var isOpen: Bool
        var until: Int
        /// The next older trial of the same tile, or -1.
        var next: Int
        var opened: Double
        /// When the tile stopped being a candidate of this bin.
        var left: Double
    }

    private var ring: [Trial] = []
    private var newest = TileIndex()
    /// Trials are numbered from 0 on; those before `first` are over.
    private var first = 0
    private var end = 0

    /// - Parameter capacity: a power of two.
    init(capacity: Int = 8192) { self.capacity = capacity }

    var byteCount: Int { ring.count * MemoryLayout<Trial>.stride + newest.byteCount }

    /// Trials that have not ended.
    var count: Int { end - first }

    private func slot(_ number: Int) -> Int { number & (capacity - 1) }

    private func isCurrent(_ number: Int) -> Bool { number >= first && number < end }

    /// The number of the newest trial of a tile, or -1.
    private func head(_ key: TileKey) -> Int {
        guard let slot = newest.find(key) else { return -1 }
        let base = first & ~(capacity - 1)
        return base + slot >= first ? base + slot : base + slot + capacity
    }

    /// Whether a trial still runs for this tile and bin.
    func isOpen(_ number: Int, _ bin: Int) -> Bool {
        isCurrent(number) && ring[slot(number)].isOpen && ring[slot(number)].bin == bin
    }

    /// Opens a trial, or goes on with the one that the tile has in this bin.
    mutating func open(_ key: TileKey, _ bin: Int, time: Double, until: Int) -> Int {
        let head = head(key)
        var number = head
        while isCurrent(number) {
            let place = slot(number)
            if ring[place].isOpen, ring[place].bin == bin {
                ring[place].left = .infinity
                return number
            }
            number = ring[place].next
        }
        if count == capacity { dropFirst() }
        let trial = Trial(
            key: key,
            bin: Int32(bin),
            isOpen: true,
            until: until,
            next: head,
            opened: time,
            left: .infinity
        )
        if ring.count < capacity { ring.append(trial) } else { ring[slot(end)] = trial }
        newest.set(key, slot(end))
        end += 1
        return end - 1
    }

    /// The tile is no candidate of the trial's bin any more.
    mutating func leave(_ number: Int, time: Double) {
        guard isCurrent(number), ring[slot(number)].isOpen, ring[slot(number)].left == .infinity else { return }
        ring[slot(number)].left = time
    }

    /// The tile has become older: its trials of younger ages have been left.
    mutating func leaveReturns(of key: TileKey, time: Double) {
        var number = head(key)
        while isCurrent(number) {
            let place = slot(number)
            if ring[place].isOpen, Int(ring[place].bin) >= ForesightBin.firstReturn { ring[place].left = time }
            number = ring[place].next
        }
    }

    /// The tile is demanded: its trials have won.
    ///
    /// - Parameters:
    ///   - deadline: when the load of the last of as many tiles as usually come at once had to begin to be in time. Where
    ///     the policy would have loaded it then for another reason, trials that were over before earn nothing for it.
    ///   - latest: the same for a tile that finds a worker free: trials that began later have come too late.
    mutating func succeed(_ key: TileKey, deadline: Double, latest: Double, odds: inout ForesightOdds) {
        let head = head(key)
        var wasAnnounced = false
        var number = head
        while isCurrent(number), !wasAnnounced {
            let trial = ring[slot(number)]
            wasAnnounced =
                trial.isOpen && Int(trial.bin) < ForesightBin.firstReturn && trial.opened <= deadline + 1e-9
                && trial.left >= deadline && odds.gain(Int(trial.bin)) > 0
            number = trial.next
        }
        number = head
        while isCurrent(number) {
            let trial = ring[slot(number)]
            if trial.isOpen {
                ring[slot(number)].isOpen = false
                odds.count(
                    Int(trial.bin),
                    weight: Self.weight,
                    wasNeeded: true,
                    wasSoon: trial.opened <= latest + 1e-9 && (!wasAnnounced || trial.left >= deadline)
                )
            }
            number = trial.next
        }
        newest.remove(key)
    }

    /// Ends the trials whose time has come.
    mutating func expire(demands: Int, odds: inout ForesightOdds) {
        while first < end {
            let trial = ring[slot(first)]
            guard !trial.isOpen || trial.until < demands else { return }
            if trial.isOpen {
                odds.count(Int(trial.bin), weight: Self.weight, wasNeeded: false, wasSoon: false)
            }
            dropFirst()
        }
    }

    private mutating func dropFirst() {
        let key = ring[slot(first)].key
        if newest.find(key) == slot(first) { newest.remove(key) }
        first += 1
    }
}
