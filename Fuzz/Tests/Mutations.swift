/// Inputs made of others by chance, the same ones every time.
struct Mutations {
    private var random: SplitMix
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]

    init(seed: UInt64, of corpus: [[UInt8]], words: [String]) {
        random = SplitMix(state: seed)
        self.corpus = corpus
        self.words = words.map { Array($0.utf8) }
    }

    mutating func next() -> [UInt8] {
        var input = corpus.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&input) }
        return input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let place = Int.random(in: 0...input.count, using: &random)
        let end = Int.random(in: place...input.count, using: &random)
        let near = min(end, place + 8)
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where place < input.count: input[place] = UInt8.random(in: .min ... .max, using: &random)
        case 2: input.removeSubrange(place..<near)
        case 3: input.removeSubrange(place..<end)
        case 4: input.insert(contentsOf: Array(input[place..<near]), at: place)
        case 5:
            // The beginning of one and the end of another.
            let other = corpus.randomElement(using: &random) ?? []
            input = Array(input[..<place]) + other[Int.random(in: 0...other.count, using: &random)...]
        default: input.insert(contentsOf: words.randomElement(using: &random) ?? [0], at: place)
        }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
