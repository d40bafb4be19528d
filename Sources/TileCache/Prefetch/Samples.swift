/// Open samples: whether a tile of some bin is demanded within the horizon. Their results update the probabilities.
///
/// A ring of the newest samples; the oldest ones beyond its capacity are dropped.
struct Samples: Sendable {
    /// Maximum number of samples; a power of two.
    let capacity: Int
    /// Weight of a sample against the prior. Neighbouring tiles are needed together, so samples are not independent:
    /// with a weight of 1, one stroke would count as many.
    static let weight = 0.25
    /// Horizon of a sample, in demands: about one cache full, within these bounds. What is demanded later need not be
    /// loaded yet, however large the memory is.
    static let horizon = 32...60

    private struct Sample {
        var key: TileKey
        var until: Int
        var opened: Double
        /// Time when the tile stopped being a candidate of this bin.
        var left: Double
    }

    /// Apart from samples: plans read the links of hundreds of samples, and nothing else of most.
    private struct Link {
        /// The bin, or -1 if it is not open.
        var bin: Int32
        /// How many numbers the next older sample of the same tile lies back; 0 if there is none.
        var back: Int32
    }

    private var ring: [Sample] = []
    private var links: [Link] = []
    private var newest = TileIndex()
    /// Samples are numbered consecutively; those before `first` have ended.
    private var first = 0
    private var end = 0

    /// - Parameter capacity: a power of two.
    init(capacity: Int = 8192) { self.capacity = capacity }

    var byteCount: Int { ring.count * (MemoryLayout<Sample>.stride + MemoryLayout<Link>.stride) + newest.byteCount }

    /// Number of samples that have not ended.
    var count: Int { end - first }

    /// Number of open samples whose tiles are candidates of their bins. Looks at all samples.
    var presentCount: Int { (first..<end).count { links[slot($0)].bin >= 0 && ring[slot($0)].left == .infinity } }

    private func slot(_ number: Int) -> Int { number & (capacity - 1) }

    /// Whether a sample has not ended, other than by a demand.
    @inline(__always)
    func isCurrent(_ number: Int) -> Bool { number >= first && number < end }

    /// Number of the newest sample of a tile, or -1.
    private func head(_ key: TileKey) -> Int {
        guard let slot = newest.find(key) else { return -1 }
        let base = first & ~(capacity - 1)
        return base + slot >= first ? base + slot : base + slot + capacity
    }

    /// Whether a sample of a bin is open.
    @inline(__always)
    func isOpen(_ number: Int, _ bin: Int) -> Bool {
        isCurrent(number) && links[slot(number)].bin == bin
    }

    /// Number of the next older sample of the same tile, or -1.
    @inline(__always)
    private func older(than number: Int) -> Int {
        let back = Int(links[slot(number)].back)
        return back > 0 ? number - back : -1
    }

    /// Opens a sample, or continues the open one of the tile and bin.
    mutating func open(_ key: TileKey, _ bin: Int, time: Double, until: Int) -> Int {
        let head = head(key)
        var number = head
        while isCurrent(number) {
            if links[slot(number)].bin == bin {
                ring[slot(number)].left = .infinity
                return number
            }
            number = older(than: number)
        }
        if count == capacity { dropFirst() }
        let sample = Sample(key: key, until: until, opened: time, left: .infinity)
        let link = Link(bin: Int32(bin), back: isCurrent(head) ? Int32(end - head) : 0)
        if ring.count < capacity {
            ring.append(sample)
            links.append(link)
        } else {
            ring[slot(end)] = sample
            links[slot(end)] = link
        }
        newest.set(key, slot(end))
        end += 1
        return end - 1
    }

    /// Notes that a tile is no longer a candidate of the bin of its sample.
    mutating func leave(_ number: Int, time: Double) {
        guard isCurrent(number), links[slot(number)].bin >= 0, ring[slot(number)].left == .infinity else { return }
        ring[slot(number)].left = time
    }

    /// Notes that a tile is still a candidate of the bin of its sample.
    mutating func stay(_ number: Int) {
        if isCurrent(number) { ring[slot(number)].left = .infinity }
    }

    /// Ends the samples of a demanded tile as needed.
    ///
    /// - Parameters:
    ///   - deadline: Latest start of a load in time, behind as many tiles as usually come at once. If another bin would
    ///     have loaded the tile by then, samples that ended before do not count as soon.
    ///   - latest: Latest start with a free worker; samples that began later were too late.
    mutating func succeed(_ key: TileKey, deadline: Double, latest: Double, probabilities: inout ProbabilityTable) {
        let head = head(key)
        var wasAnnounced = false
        var number = head
        while isCurrent(number), !wasAnnounced {
            let (sample, bin) = (ring[slot(number)], Int(links[slot(number)].bin))
            wasAnnounced =
                bin >= 0 && sample.opened <= deadline + 1e-9 && sample.left >= deadline && probabilities.gain(bin) > 0
            number = older(than: number)
        }
        number = head
        while isCurrent(number) {
            let (sample, bin) = (ring[slot(number)], Int(links[slot(number)].bin))
            if bin >= 0 {
                links[slot(number)].bin = -1
                let isSoon = sample.opened <= latest + 1e-9 && (!wasAnnounced || sample.left >= deadline)
                probabilities.count(bin, weight: Self.weight, wasNeeded: true, wasSoon: isSoon)
            }
            number = older(than: number)
        }
        newest.remove(key)
    }

    /// Ends the samples beyond their horizon as not needed.
    mutating func expire(demands: Int, probabilities: inout ProbabilityTable) {
        while first < end {
            let bin = Int(links[slot(first)].bin)
            guard bin < 0 || ring[slot(first)].until < demands else { return }
            if bin >= 0 { probabilities.count(bin, weight: Self.weight, wasNeeded: false, wasSoon: false) }
            dropFirst()
        }
    }

    private mutating func dropFirst() {
        newest.remove(ring[slot(first)].key, if: slot(first))
        first += 1
    }
}
