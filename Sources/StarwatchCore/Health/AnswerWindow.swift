/// The server's answers of the last 15 minutes, compared with those before. It keeps totals, not answers.
package struct AnswerWindow: Sendable {
    /// The totals since the start of the process.
    package struct Totals: Sendable, Hashable {
        package var requests = 0
        /// Those that the server or the way to it failed.
        package var failed = 0
        /// Those that the server refused, such as 401 and 429.
        package var refused = 0
        /// The requests by duration. The last bucket has no upper bound.
        package var buckets: [UInt64] = []
        /// The longest request since the last totals, in seconds; infinite if it is unknown.
        package var longest = Double.infinity

        package init() {}

        fileprivate static func - (a: Self, b: Self) -> Self {
            var rest = Totals()
            (rest.requests, rest.failed) = (a.requests - b.requests, a.failed - b.failed)
            rest.refused = a.refused - b.refused
            rest.buckets = a.buckets.enumerated().map { $1 - (b.buckets.indices.contains($0) ? b.buckets[$0] : 0) }
            return rest
        }

        fileprivate mutating func add(_ buckets: [UInt64]) {
            for (index, count) in buckets.enumerated() {
                if self.buckets.indices.contains(index) {
                    self.buckets[index] += count
                } else {
                    self.buckets.append(count)
                }
            }
        }
    }

    /// The answers in figures. Durations are in seconds.
    package struct Summary: Sendable, Hashable {
        package var requests = 0
        /// Those that the server or the way to it failed.
        package var failed = 0
        /// Those that the server refused, such as 401 and 429.
        package var refused = 0
        /// The p95 of their durations, at most the longest; `nil` for too few requests.
        package var p95: Double?
        /// The same for those before, without the times in which the server was slow; `nil` for too few.
        package var usual: Double?
        /// Whether one failed within the last three minutes, or none was sent.
        package var stillFails = true
        /// Whether those of the last three minutes are slow too, or none was sent.
        package var staysSlow = true

        package init() {}

        /// Those without the answer that was asked for.
        package var unsuccessful: Int { failed + refused }

        /// Whether a quarter or more failed, of at least four, and they go on.
        package var hasManyErrors: Bool { requests >= 4 && failed * 4 >= requests && stillFails }

        /// Whether it takes more than a second, and three times as long as before; without a before, more than five
        /// seconds. The last three minutes decide when it is over.
        package var isSlow: Bool { wasSlow && staysSlow }

        /// Whether the server was slow within the last 15 minutes, also if it no longer is.
        fileprivate var wasSlow: Bool { p95.map(isSlow) ?? false }

        fileprivate func isSlow(_ p95: Double) -> Bool { p95 > (usual.map { max(1, 3 * $0) } ?? 5) }
    }

    private static let length = Duration.seconds(900)
    /// The time without a failure, or with fast answers only, after which the trouble is over.
    private static let calm = Duration.seconds(180)
    /// The time between two kept totals.
    private static let step = Duration.seconds(20)

    /// The upper bounds of the buckets, without the last one's.
    private let bounds: [Double]
    /// The totals of the last 15 minutes, and those just before, each with the longest request after it.
    private var kept: [(at: Duration, totals: Totals, longest: Double)] = []
    private var latest = Totals()
    private var now = Duration.zero
    /// The requests before the last 15 minutes. Those of a slow time would make it the usual.
    private var before = Totals()
    /// The longest of them.
    private var longestBefore = 0.0

    package init(bounds: [Double]) { self.bounds = bounds }

    /// Takes the totals at a time of the monotonic clock.
    package mutating func observe(_ totals: Totals, at now: Duration) {
        (latest, self.now) = (totals, now)
        if kept.isEmpty {
            before.add(totals.buckets)
            longestBefore = totals.longest
        } else {
            kept[kept.count - 1].longest = max(kept[kept.count - 1].longest, totals.longest)
        }
        if kept.last.map({ now - $0.at >= Self.step }) ?? true { kept.append((now, totals, 0)) }
        // The slow answers leave the window long after the server is fast again.
        let wasSlow = summary.wasSlow
        while kept.count > 1, now - kept[1].at >= Self.length {
            if !wasSlow {
                before.add((kept[1].totals - kept[0].totals).buckets)
                longestBefore = max(longestBefore, kept[0].longest)
            }
            kept.removeFirst()
        }
    }

    package var summary: Summary {
        let recent = latest - (kept.first?.totals ?? Totals())
        var summary = Summary()
        (summary.requests, summary.failed, summary.refused) = (recent.requests, recent.failed, recent.refused)
        let longest = kept.map(\.longest).max() ?? 0
        // An estimate within a bucket can lie beyond every request.
        summary.p95 = Self.quantile(recent.buckets, bounds, atLeast: 5).map { min($0, longest) }
        summary.usual = Self.quantile(before.buckets, bounds, atLeast: 20).map { min($0, longestBefore) }
        if let start = kept.last(where: { now - $0.at >= Self.calm }) {
            let last = latest - start.totals
            summary.stillFails = last.failed > 0 || last.requests == 0
            summary.staysSlow = Self.quantile(last.buckets, bounds, atLeast: 1).map(summary.isSlow) ?? true
        }
        return summary
    }

    /// The 95th percentile, as Prometheus estimates it: within a bucket, durations are spread evenly.
    private static func quantile(_ buckets: [UInt64], _ bounds: [Double], atLeast least: UInt64) -> Double? {
        let count = buckets.reduce(0, +)
        guard count >= least, buckets.count == bounds.count + 1 else { return nil }
        var rank = 0.95 * Double(count)
        for (index, bound) in bounds.enumerated() {
            let inBucket = Double(buckets[index])
            if rank <= inBucket {
                let lower = index == 0 ? 0 : bounds[index - 1]
                return lower + (bound - lower) * rank / max(inBucket, 1)
            }
            rank -= inBucket
        }
        return bounds.last
    }
}
