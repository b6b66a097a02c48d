/// A SplitMix64 generator. The same seed gives the same numbers on every machine.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// A random element of a non-empty list.
    mutating func pick<T>(_ list: [T]) -> T { list[Int(next() % UInt64(list.count))] }

    /// A random text of `count` characters of `alphabet`.
    mutating func text(_ count: Int, of alphabet: [UInt8]) -> String {
        String(decoding: (0..<count).map { _ in pick(alphabet) }, as: UTF8.self)
    }
}
