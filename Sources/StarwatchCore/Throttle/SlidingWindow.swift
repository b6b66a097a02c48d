/// A limit on what happens in any 60 seconds, wherever they begin.
///
/// Unlike buckets, it never lets a burst straddle a border. Times are wall-clock times, because the window is stored
/// and restored over a restart; see ``shift(by:)`` for a clock that is set.
public struct SlidingWindow: Sendable, Hashable {
    /// An answer to ``admit(_:at:)``.
    public enum Admission: Sendable, Hashable {
        case admitted
        /// Not yet; at this time there will be room, if nobody else takes it.
        case wait(until: Timestamp)
    }

    /// The most that any window may hold; at least 1.
    public let limit: Int
    /// The length of the window, 60 s by default.
    public let length: Duration

    private let lengthMilliseconds: Int64
    // A ring: times (ms) and what was spent at each, the oldest at `head`.
    private var times: [Int64] = []
    private var costs: [Int] = []
    private var head = 0
    private var count = 0
    private var total = 0
    /// What was admitted and has not ended.
    public private(set) var underWay = 0

    /// An empty window.
    public init(limit: Int, length: Duration = .seconds(60)) {
        self.limit = max(1, limit)
        self.length = length
        self.lengthMilliseconds = length.wholeMilliseconds
    }

    /// Restores a window from ``state``. What is malformed in it is dropped; times after `now` become `now`.
    public init(limit: Int, length: Duration = .seconds(60), state: [Int64], now: Timestamp) {
        self.init(limit: limit, length: length)
        var entries: [(Int64, Int)] = []
        for index in stride(from: 0, to: state.count - 1, by: 2) where (1...1_000_000_000).contains(state[index + 1]) {
            entries.append((min(state[index], now.milliseconds), Int(state[index + 1])))
        }
        for (time, cost) in entries.sorted(by: { $0.0 < $1.0 }) { append(time, cost) }
        expire(now.milliseconds)
    }

    /// What to store: times (ms) and costs in turn, the oldest first.
    public var state: [Int64] {
        var state: [Int64] = []
        state.reserveCapacity(count * 2)
        for index in 0..<count {
            state.append(times[slot(index)])
            state.append(Int64(costs[slot(index)]))
        }
        return state
    }

    /// Lets `cost` through at `now`, if the window has room for it. It counts until ``end(_:at:)``, and 60 s from then.
    ///
    /// A cost above the limit is read as the limit: it waits for an empty window instead of for ever.
    public mutating func admit(_ cost: Int = 1, at now: Timestamp) -> Admission {
        if let until = wait(for: cost, at: now) { return .wait(until: until) }
        underWay += min(max(cost, 0), limit)
        return .admitted
    }

    /// When there will be room for `cost`, if nobody else takes it; `nil` when there is room at `now`. Spends nothing.
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
        // What is under way ends now at the earliest.
        return Timestamp(milliseconds: now.milliseconds + lengthMilliseconds + 1)
    }

    /// How much may be spent at `now`.
    public mutating func room(at now: Timestamp) -> Int {
        clampFuture(to: now.milliseconds)
        expire(now.milliseconds)
        return max(0, limit - total - underWay)
    }

    /// Ends what was admitted: its 60 s begin at `now`, for the other side may have counted it at any moment since.
    public mutating func end(_ cost: Int = 1, at now: Timestamp) {
        let cost = min(max(cost, 0), underWay)
        guard cost > 0 else { return }
        underWay -= cost
        append(max(now.milliseconds, count > 0 ? times[slot(count - 1)] : .min), cost)
    }

    /// Moves what was spent with a wall clock that was set by `jump` (positive: forward).
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

    /// An entry counts until the whole length has passed and one millisecond more: both ends belong to a window.
    private mutating func expire(_ now: Int64) {
        while count > 0, now - times[head] > lengthMilliseconds {
            total -= costs[head]
            head = slot(1)
            count -= 1
        }
    }

    /// After the clock was set back, what was spent "later" was spent by now.
    private mutating func clampFuture(to now: Int64) {
        var index = count - 1
        while index >= 0, times[slot(index)] > now {
            times[slot(index)] = now
            index -= 1
        }
    }
}
