import StarwatchCore

/// What the rate limits have let through in the last minute, by the second: small enough to store with every cycle.
///
/// A request counts at the end of its second, so that a window restored from it never lets one through too early.
struct StoredWindow: Sendable, Hashable {
    /// Whole seconds, rounded up, and what was spent in each; the oldest first.
    private var spent: [(second: Int64, cost: Int64)] = []

    static func == (a: StoredWindow, b: StoredWindow) -> Bool { a.spent.elementsEqual(b.spent, by: ==) }

    func hash(into hasher: inout Hasher) { hasher.combine(times) }

    init() {}

    /// - Parameter times: Milliseconds and costs in turn, as ``SlidingWindow/state`` has them. What no clock and no limit
    ///   can have is left out.
    init(times: [Int64]) {
        for index in stride(from: 0, to: times.count - 1, by: 2) {
            let (time, cost) = (times[index], times[index + 1])
            guard (0...1 << 50).contains(time), (1...1 << 30).contains(cost) else { continue }
            spend(Int(cost), at: Timestamp(milliseconds: time))
        }
    }

    /// Milliseconds and costs in turn.
    var times: [Int64] { spent.flatMap { [$0.second * 1000, $0.cost] } }

    /// Adds what was spent at `now`, and forgets what is older than a minute.
    mutating func spend(_ cost: Int, at now: Timestamp) {
        let second = (now.milliseconds + 999) / 1000
        if spent.last?.second == second {
            spent[spent.count - 1].cost += Int64(cost)
        } else {
            spent.removeAll { $0.second < second - 61 }
            spent.append((second, Int64(cost)))
        }
    }

    /// Moves what was spent at `start` to `end`. Where it is not found, because the clock was set or it took a minute, it is
    /// added at `end`. Whether anything changed.
    mutating func move(_ cost: Int, from start: Timestamp, to end: Timestamp) -> Bool {
        let (from, to) = ((start.milliseconds + 999) / 1000, (end.milliseconds + 999) / 1000)
        guard cost > 0, to != from else { return false }
        if let index = spent.lastIndex(where: { $0.second == from }), spent[index].cost >= cost {
            spent[index].cost -= Int64(cost)
            if spent[index].cost == 0 { spent.remove(at: index) }
        }
        spend(cost, at: Timestamp(milliseconds: max(to, spent.last?.second ?? to) * 1000))
        return true
    }

    /// Takes what lies in the future as spent at `now`.
    mutating func settle(at now: Timestamp) {
        let second = (now.milliseconds + 999) / 1000
        let ahead = spent.filter { $0.second > second }.reduce(0) { $0 + $1.cost }
        guard ahead > 0 else { return }
        spent.removeAll { $0.second > second }
        spend(Int(ahead), at: now)
    }

    /// When something was spent last; `nil` when nothing was.
    var last: Timestamp? { spent.last.map { Timestamp(milliseconds: $0.second * 1000) } }

    /// Moves everything along with a clock that was set: whole seconds, rounded up like the times themselves.
    mutating func shift(by jump: Duration) {
        let milliseconds = jump.wholeMilliseconds
        let seconds = milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0)
        spent = spent.map { ($0.second + seconds, $0.cost) }
    }

    /// Little-endian numbers: how many entries `requests` has, its entries, then those of `acknowledgements`.
    static func bytes(requests: StoredWindow, acknowledgements: StoredWindow) -> [UInt8] {
        // Made for every request.
        let count = 1 + 2 * (requests.spent.count + acknowledgements.spent.count)
        return [UInt8](unsafeUninitializedCapacity: 8 * count) { buffer, used in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            func put(_ number: Int64) {
                bytes.storeBytes(of: number.littleEndian, toByteOffset: used, as: Int64.self)
                used += 8
            }
            put(Int64(requests.spent.count))
            for entry in requests.spent { put(entry.second * 1000); put(entry.cost) }
            for entry in acknowledgements.spent { put(entry.second * 1000); put(entry.cost) }
        }
    }

    /// Reads ``bytes(requests:acknowledgements:)``; what is malformed is left out.
    static func read(_ bytes: [UInt8]) -> (requests: StoredWindow, acknowledgements: StoredWindow) {
        let numbers = stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
        guard let count = numbers.first, count >= 0, count <= (numbers.count - 1) / 2 else {
            return (StoredWindow(), StoredWindow())
        }
        let border = 1 + Int(count) * 2
        return (StoredWindow(times: Array(numbers[1..<border])), StoredWindow(times: Array(numbers[border...])))
    }
}
