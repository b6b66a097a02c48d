/// The last ids that were put in, as many as there is room for.
struct RecentIDs: Sendable {
    private let capacity: Int
    private var known: Set<String> = []
    /// In the order of their coming, from ``next`` on once it is full.
    private var ring: [String] = []
    /// Where the next one goes, in the place of the oldest.
    private var next = 0

    /// - Parameter capacity: At least 1.
    init(capacity: Int) { self.capacity = capacity }

    func contains(_ id: String) -> Bool { known.contains(id) }

    /// Does nothing for an id that is known.
    mutating func insert(_ id: String) {
        guard known.insert(id).inserted else { return }
        guard ring.count == capacity else {
            ring.append(id)
            return
        }
        known.remove(ring[next])
        ring[next] = id
        next = (next + 1) % capacity
    }
}
