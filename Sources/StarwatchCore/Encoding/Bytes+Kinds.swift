extension UInt8 {
    /// Whether it is a digit of ASCII.
    package var isDigit: Bool { (48...57).contains(self) }

    /// Whether it is a letter of ASCII.
    package var isLetter: Bool { (65...90).contains(self & 0xDF) }

    package var isAlphanumeric: Bool { isDigit || isLetter }
}

extension Sequence<UInt8> {
    /// The hash of the bytes by FNV-1a. Swift's own hash has another seed in every process.
    package var stableHash: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}

extension Sequence<String> {
    /// The hash of texts, of which each has an end.
    package var stableHash: Int64 { Int64(bitPattern: flatMap { Array($0.utf8) + [0xff] }.stableHash) }
}
