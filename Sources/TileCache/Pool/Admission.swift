/// Answer to a request for memory, or for work that takes memory.
enum Admission<Grant> {
    /// Granted; the memory is counted.
    case granted(Grant)
    /// Compress this tile first, then retry.
    case demote(EntryID)
    /// There is no room; nothing is counted. If `hold.isInterrupted`, room is being made: ask again in another hold.
    case refused

    var isGranted: Bool { if case .granted = self { true } else { false } }

    func map<Other>(_ transform: (Grant) -> Other) -> Admission<Other> {
        switch self {
        case .granted(let grant): .granted(transform(grant))
        case .demote(let victim): .demote(victim)
        case .refused: .refused
        }
    }
}

extension Admission: Equatable where Grant: Equatable {}
extension Admission: Sendable where Grant: Sendable {}
