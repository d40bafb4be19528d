/// Classes of visits and ages of tiles, shared by pool and policies.
enum VisitClass {
    /// Minimum number of demands between two counted visits.
    static let demandsOfAVisit = 12
    /// Classes of demands since a tile was last needed. The bounds are 16, 32 and so on.
    static let ages = 10
    static let count = 4

    /// The class of an age; the last class has no upper bound.
    static func age(ofDemands demands: Int) -> Int {
        var age = 0
        var bound = 16
        while age < ages - 1, demands > bound {
            bound *= 2
            age += 1
        }
        return age
    }

    /// Once, two or three times, up to seven times, more often.
    static func of(visits: Int) -> Int { visits <= 1 ? 0 : visits <= 3 ? 1 : visits <= 7 ? 2 : 3 }
}
