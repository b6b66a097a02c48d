import StarwatchCore

/// The windows of an account as the store keeps them: the cost spent in each second of the last minute.
///
/// Each entry counts at the end of its second, so that a restored window never lets a request through too early. An entry
/// in the future stands for requests under way or stored ahead. A restored window counts it as sent at that moment.
///
/// The bytes are little-endian numbers: the number of entries of `requests`, those entries as milliseconds and cost, then
/// the entries of `acknowledgements`.
struct StoredWindows: Sendable, Hashable {
    /// Alternating milliseconds and costs, as in ``SlidingWindow/state``, oldest first.
    private(set) var requests: [Int64]
    private(set) var acknowledgements: [Int64]

    /// - Parameter ahead: The number of requests that can go without another write.
    init(_ requests: SlidingWindow, _ acknowledgements: SlidingWindow, ahead: Int = 0, now: Timestamp) {
        self.requests = Self.bySecond(requests, open: requests.underWay + ahead, now: now)
        self.acknowledgements = Self.bySecond(acknowledgements, open: acknowledgements.underWay, now: now)
    }

    /// Reads ``bytes``. Malformed entries are dropped.
    init(bytes: [UInt8]) {
        let numbers = stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
        guard let count = numbers.first, count >= 0, count <= (numbers.count - 1) / 2 else {
            (requests, acknowledgements) = ([], [])
            return
        }
        let border = 1 + Int(count) * 2
        requests = Self.plausible(numbers[1..<border])
        acknowledgements = Self.plausible(numbers[border...])
    }

    var bytes: [UInt8] {
        let numbers = requests.count + acknowledgements.count + 1
        return [UInt8](unsafeUninitializedCapacity: 8 * numbers) { buffer, used in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            func put(_ number: Int64) {
                bytes.storeBytes(of: number.littleEndian, toByteOffset: used, as: Int64.self)
                used += 8
            }
            put(Int64(requests.count / 2))
            for number in requests { put(number) }
            for number in acknowledgements { put(number) }
        }
    }

    /// The greatest time of an entry.
    private static let future: Int64 = 1 << 50

    private static func bySecond(_ window: SlidingWindow, open: Int, now: Timestamp) -> [Int64] {
        var entries: [Int64] = []
        func add(_ time: Int64, _ cost: Int64) {
            let second = (time + 999) / 1000 * 1000
            if let last = entries.indices.last, entries[last - 1] >= second {
                entries[last] += cost
            } else {
                entries.append(second)
                entries.append(cost)
            }
        }
        let state = window.state
        entries.reserveCapacity(state.count + 2)
        for index in stride(from: 0, to: state.count, by: 2) where now.milliseconds - state[index] <= 61_000 {
            add(state[index], state[index + 1])
        }
        return open > 0 ? entries + [future, Int64(open)] : entries
    }

    /// Drops impossible times and costs.
    private static func plausible(_ numbers: ArraySlice<Int64>) -> [Int64] {
        var entries: [Int64] = []
        var index = numbers.startIndex
        while index + 1 < numbers.endIndex {
            let (time, cost) = (numbers[index], numbers[index + 1])
            if (0...future).contains(time), (1...1 << 30).contains(cost) { entries += [time, cost] }
            index += 2
        }
        return entries
    }
}
