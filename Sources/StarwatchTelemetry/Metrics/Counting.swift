/// A metric whose series can appear on the page once it has a value.
protocol Appearing: Sendable {
    /// Whether it has counted anything, or was set.
    var hasCounted: Bool { get }
}

/// A cumulative metric that can continue from another's value.
protocol Counting: Appearing {
    /// Adds the total of `other`.
    ///
    /// A metric of another kind or with other buckets is ignored: a reload changed its definition, so it restarts at 0.
    func add(_ other: any Counting)
}

extension Gauge: Appearing {
    var hasCounted: Bool { value != 0 }
}

extension Counter: Counting {
    var hasCounted: Bool { value > 0 }

    func add(_ other: any Counting) {
        if let other = other as? Counter { increment(by: other.value) }
    }
}

extension Histogram: Counting {
    var hasCounted: Bool { counts.contains { $0 > 0 } }

    func add(_ other: any Counting) {
        guard let other = other as? Histogram, other.bounds == bounds else { return }
        add(counts: other.counts, sum: other.sum)
    }
}
