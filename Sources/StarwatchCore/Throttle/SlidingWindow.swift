/// A limit on requests in any 60 seconds, not in fixed intervals.
///
/// Unlike a bucket, it allows no burst across an interval boundary. Times are wall-clock times, because the window is
/// stored and restored across restarts. See ``shift(by:)`` for a clock that was set.
public struct SlidingWindow: Sendable, Hashable {
    /// The answer of ``admit(_:at:)``.
    public enum Admission: Sendable, Hashable {
        case admitted
        /// Denied. There will be room at this time, unless another request takes it.
        case wait(until: Timestamp)
    }

    /// The largest cost in any window; at least 1.
    public let limit: Int
    /// The length of the window, 60 s by default.
    public let length: Duration

    private let lengthMilliseconds: Int64
    // A ring buffer of times (ms) and their costs; the oldest is at `head`.
    private var times: [Int64] = []
    private var costs: [Int] = []
    private var head = 0
    private var count = 0
    private var total = 0
    /// The admitted cost that has not ended.
    public private(set) var underWay = 0

    /// An empty window.
    public init(limit: Int, length: Duration = .seconds(60)) {
        self.limit = max(1, limit)
        self.length = length
        self.lengthMilliseconds = length.wholeMilliseconds
    }

    /// Restores a window from ``state``. Drops malformed entries; a time after `now` becomes `now`.
    public init(limit: Int, length: Duration = .seconds(60), state: [Int64], now: Timestamp) {
        self.init(limit: limit, length: length)
        var entries: [(Int64, Int)] = []
        for index in stride(from: 0, to: state.count - 1, by: 2) where (1...1_000_000_000).contains(state[index + 1]) {
            entries.append((min(state[index], now.milliseconds), Int(state[index + 1])))
        }
        for (time, cost) in entries.sorted(by: { $0.0 < $1.0 }) { append(time, cost) }
        expire(now.milliseconds)
    }

    /// The stored form: times (ms) and costs alternately, the oldest first.
    public var state: [Int64] {
        var state: [Int64] = []
        state.reserveCapacity(count * 2)
        for index in 0..<count {
            state.append(times[slot(index)])
            state.append(Int64(costs[slot(index)]))
        }
        return state
    }

    /// Admits `cost` at `now` if the window has room. The cost counts until ``end(_:at:)`` and for 60 s after it.
    ///
    /// A cost above the limit counts as the limit, so it waits for an empty window and not forever.
    public mutating func admit(_ cost: Int = 1, at now: Timestamp) -> Admission {
        if let until = wait(for: cost, at: now) { return .wait(until: until) }
        underWay += min(max(cost, 0), limit)
        return .admitted
    }

    /// The time when `cost` will have room, unless another request takes it; `nil` if it has room at `now`. Spends
    /// nothing.
    public mutating func wait(for cost: Int, at now: Timestamp) -> Timestamp? {
        let cost = min(max(cost, 0), limit)
        clampFuture(to: now.milliseconds)
        expire(now.milliseconds)
        guard cost > 0, total + underWay + cost > limit else { return nil }
        var excess = total + underWay + cost - limit
        for index in 0..<count {
            excess -= costs[slot(index)]
            if excess <= 0 { return Timestamp(milliseconds: times[slot(index)] + lengthMilliseconds + 1) }
        }
        // Running requests end now at the earliest.
        return Timestamp(milliseconds: now.milliseconds + lengthMilliseconds + 1)
    }

    /// The cost that can be admitted at `now`.
    public mutating func room(at now: Timestamp) -> Int {
        clampFuture(to: now.milliseconds)
        expire(now.milliseconds)
        return max(0, limit - total - underWay)
    }

    /// Ends an admitted request. Its 60 s begin at `now`, because the server can have counted it at any moment since.
    public mutating func end(_ cost: Int = 1, at now: Timestamp) {
        let cost = min(max(cost, 0), underWay)
        guard cost > 0 else { return }
        underWay -= cost
        append(max(now.milliseconds, count > 0 ? times[slot(count - 1)] : .min), cost)
    }

    /// Adjusts all times to a wall clock that was set by `jump`, positive for forward.
    public mutating func shift(by jump: Duration) {
        for index in 0..<count { times[slot(index)] &+= jump.wholeMilliseconds }
    }

    private func slot(_ index: Int) -> Int {
        let slot = head + index
        return slot < times.count ? slot : slot - times.count
    }

    private mutating func append(_ time: Int64, _ cost: Int) {
        total += cost
        if count > 0, times[slot(count - 1)] == time {
            costs[slot(count - 1)] += cost
            return
        }
        if count == times.count { grow() }
        let free = slot(count)
        times[free] = time
        costs[free] = cost
        count += 1
    }

    private mutating func grow() {
        let order = (0..<count).map { slot($0) }
        let capacity = max(16, count * 2)
        times = order.map { times[$0] } + Array(repeating: 0, count: capacity - count)
        costs = order.map { costs[$0] } + Array(repeating: 0, count: capacity - count)
        head = 0
    }

    /// Drops entries older than the window. Both ends belong to a window, hence one more millisecond.
    private mutating func expire(_ now: Int64) {
        while count > 0, now - times[head] > lengthMilliseconds {
            total -= costs[head]
            head = slot(1)
            count -= 1
        }
    }

    /// Moves future times to `now`: they come from before the clock was set back.
    private mutating func clampFuture(to now: Int64) {
        var index = count - 1
        while index >= 0, times[slot(index)] > now {
            times[slot(index)] = now
            index -= 1
        }
    }
}
