/// A bounded set of the most recently inserted ids.
struct RecentIDs: Sendable {
    private let capacity: Int
    private var known: Set<String> = []
    /// The ids in insertion order. Once full, the oldest is at ``next``.
    private var ring: [String] = []
    /// Index of the next insertion, which replaces the oldest id.
    private var next = 0

    /// - Parameter capacity: At least 1.
    init(capacity: Int) { self.capacity = capacity }

    func contains(_ id: String) -> Bool { known.contains(id) }

    /// Inserts an id. A known id changes nothing.
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
