/// What only rises, and can be counted on from what another counted.
protocol Counting: Sendable {
    /// Adds all that `other` has counted, if it is of the same kind and shape.
    func add(_ other: any Counting)
}

extension Counter: Counting {
    func add(_ other: any Counting) {
        if let other = other as? Counter { increment(by: other.value) }
    }
}

extension Histogram: Counting {
    func add(_ other: any Counting) {
        guard let other = other as? Histogram, other.bounds == bounds else { return }
        add(counts: other.counts, sum: other.sum)
    }
}
