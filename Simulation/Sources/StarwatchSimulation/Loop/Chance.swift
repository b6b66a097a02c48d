/// Stream of random numbers with a seed and a name. Streams with different names are independent.
struct Chance: Sendable {
    private var state: UInt64

    init(seed: UInt64, _ name: String) {
        state = Fingerprint(of: name).value ^ (seed &* 0x2545_f491_4f6c_dd1d)
        _ = next()
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }

    /// 0 ..< 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func below(_ count: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(count)).high) }

    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) } }

    mutating func happens(_ probability: Double) -> Bool { unit() < probability }
}
