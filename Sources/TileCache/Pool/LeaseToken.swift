/// What the pool needs to end one tile's lease.
struct LeaseToken: Sendable, Hashable {
    var entry: Int32
    var slot: Int32
    var slotClass: Int32
}
