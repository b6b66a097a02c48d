/// A fast check for lines without a match, which most lines are. It examines 16 bytes at a time, and single bytes only
/// where a match could begin. It can report a match where ``run()`` finds none, but never misses one.
extension RedactionScanner {
    /// 16 bytes. Swift compares two vectors in one step, but a vector and a single number byte by byte.
    private typealias Block = SIMD16<UInt8>

    /// Whether ``run()`` could find a match.
    func mayFind() -> Bool {
        let end = bytes.count
        guard end > 16 else { return end > 0 }
        if Self.isFirstSign(bytes[0]), isSign(at: 0) { return true }
        var known = Known()
        var position = 1
        while position &+ 16 <= end {
            if holdsSign(at: position, &known) { return true }
            position &+= 16
        }
        // The last 16 bytes, some of them again.
        return position < end && holdsSign(at: end &- 16, &known)
    }

    /// Knowledge of the blocks before: the end of a word that can go on, and words that were examined.
    private struct Known {
        /// The letters and digits of the eight bytes at the end of the block before, as bytes of ones.
        var last: UInt64 = 0
        /// The end of the last examined word, which contains no secret.
        var end = 0
    }

    /// Whether a match could begin in the 16 bytes from a position on.
    @inline(__always)
    private func holdsSign(at position: Int, _ known: inout Known) -> Bool {
        let block = block(at: position)
        let before = self.block(at: position &- 1)

        // These ranges have the signs `%&+` and `:=@`; their other characters are rare.
        let isColon = Self.isIn(UInt8(ascii: ":")...UInt8(ascii: "@"), block)
        let isPercent = Self.isIn(UInt8(ascii: "%")...UInt8(ascii: "+"), block)

        // Any 26 letters and digits contain two complete neighbouring eights: `x` and a full one beside it. That the last
        // block overlaps the one before only brings them closer. `y` and `last` can also be full together only, which
        // costs one look.
        let eights = unsafeBitCast(Self.letters(in: block), to: SIMD2<UInt64>.self)
        if eights.x & (eights.y | known.last) == UInt64.max, holdsSecret(at: position, &known.end) { return true }
        known.last = eights.y

        // Supersets, which are cheaper: control characters are rare, and a rare sign is examined further.
        let isBearer = Self.isIn(0...0x20, block) & Self.equals(UInt8(ascii: "r"), before | Self.all(0x20))
        let isUnderscore = Self.equals(UInt8(ascii: "_"), block) & Self.isIn(0...UInt8(ascii: "c"), before)
        let isDash = Self.equals(UInt8(ascii: "-"), block) & Self.equals(UInt8(ascii: "-"), before)
        let isRare = Self.equals(UInt8(ascii: "J"), block) | Self.equals(UInt8(ascii: "\\"), block)
        let isSign = isColon | isPercent | isBearer | isUnderscore | isDash | isRare
        // Characters beyond ASCII are signs too. Each sign has its highest bit set.
        let signs = unsafeBitCast(isSign | block, to: SIMD2<UInt64>.self)
        // One number has them all: bit 8k stands for byte k, and bit 8k + 7 for byte k + 8.
        var found = (signs.x & Self.highBit) >> 7 | signs.y & Self.highBit
        while found != 0 {
            let bit = found.trailingZeroBitCount
            if self.isSign(at: position &+ bit >> 3 &+ (bit & 4) << 1) { return true }
            found &= found &- 1
        }
        return false
    }

    /// Whether the letters and digits around a position are a secret.
    @inline(never)
    private func holdsSecret(at position: Int, _ wordEnd: inout Int) -> Bool {
        guard position >= wordEnd else { return false }
        let start = startOfWord(before: position)
        // Eight bytes from the position on are letters and digits.
        let end = endOfWord(from: position + 8)
        wordEnd = end
        guard end - start >= Self.shortestSecret else { return false }
        // Most long words are hexadecimal ids. The base64 of a DID has a small letter after `f`. Other secrets need not: a
        // ULID has 26 bytes, a key 64 or 66, and up to five of an escape can precede them.
        let length = end - start
        guard (0...5).contains(length - 26) || (0...7).contains(length - 64) || holdsSmallLetterAfterF(start..<end)
        else { return false }
        return secret(from: start, wordEnd: end) != nil
    }

    private func startOfWord(before position: Int) -> Int {
        var start = position
        while start >= 16 {
            let others = ~letters(at: start - 16)
            start -= others.leadingZeroBitCount / 8
            if others != 0 { return start }
        }
        while start > 0, bytes[start - 1].isLetter || bytes[start - 1].isDigit { start -= 1 }
        return start
    }

    private func endOfWord(from position: Int) -> Int {
        var end = position
        while end + 16 <= bytes.count {
            let others = ~letters(at: end)
            end += others.trailingZeroBitCount / 8
            if others != 0 { return end }
        }
        while end < bytes.count, bytes[end].isLetter || bytes[end].isDigit { end += 1 }
        return end
    }

    /// The letters and digits of 16 bytes, as bytes of ones.
    private func letters(at position: Int) -> UInt128 {
        unsafeBitCast(Self.letters(in: block(at: position)), to: UInt128.self)
    }

    /// Whether a word of at least 16 letters and digits has a small letter after `f`.
    private func holdsSmallLetterAfterF(_ word: Range<Int>) -> Bool {
        for position in stride(from: word.lowerBound, to: word.upperBound, by: 16) {
            let block = block(at: min(position, word.upperBound - 16))
            if unsafeBitCast(block .> Self.all(UInt8(ascii: "f")), to: UInt128.self) != 0 { return true }
        }
        return false
    }

    @inline(__always)
    private func block(at position: Int) -> Block {
        UnsafeRawPointer(bytes.baseAddress!).loadUnaligned(fromByteOffset: position, as: Block.self)
    }

    @inline(__always)
    private func isSign(at position: Int) -> Bool {
        // Most signs are colons, or in text equals signs. The jump of a switch would be predicted wrongly.
        let sign = bytes[position]
        if sign == UInt8(ascii: ":") { return mayMatch(colon: position) && isField(colon: position) }
        if sign == UInt8(ascii: "=") { return parameter(equals: position, next: position + 1)?.kind != nil }
        return isRareSign(at: position)
    }

    @inline(never)
    private func isField(colon position: Int) -> Bool { colon(at: position, next: position + 1)?.kind != nil }

    @inline(never)
    private func isRareSign(at position: Int) -> Bool {
        switch bytes[position] {
        case UInt8(ascii: "J"):
            return position >= 2 && bytes[position - 1] == UInt8(ascii: "y") && bytes[position - 2] == UInt8(ascii: "e")
        case UInt8(ascii: "_"):
            if bytes[position - 1] == UInt8(ascii: "c") {
                return webhookSecret(underscore: position, next: position + 1) != nil
            }
            return position >= 10 && position + 7 < bytes.count && bytes[position + 7] == UInt8(ascii: "_")
        case UInt8(ascii: "-"): return pemBlock(dash: position - 1) != nil
        case UInt8(ascii: "&"): return hiddenUnit(at: position) != nil
        case UInt8(ascii: "%"), UInt8(ascii: "\\"):
            return look(at: position)?.kind != nil || hiddenUnit(at: position) != nil
        case 0x80...: return hiddenUnit(at: position) != nil
        default: return look(at: position)?.kind != nil
        }
    }

    /// Whether the first byte of the line, which is in no block, is a sign. The others need bytes before them.
    private static func isFirstSign(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ":"), UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "&"), 0x80...:
            return true
        default: return false
        }
    }

    // MARK: - Predicates on 16 bytes, as bytes of ones

    private static let highBit: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    private static func all(_ byte: UInt8) -> Block { Block(repeating: byte) }

    /// The bytes that equal `byte`.
    @inline(__always)
    private static func equals(_ byte: UInt8, _ block: Block) -> Block {
        unsafeBitCast(block .== all(byte), to: Block.self)
    }

    /// The bytes in a range.
    @inline(__always)
    private static func isIn(_ range: ClosedRange<UInt8>, _ block: Block) -> Block {
        unsafeBitCast((block &- all(range.lowerBound)) .<= all(range.upperBound - range.lowerBound), to: Block.self)
    }

    /// The letters and digits. Exact, because every other byte ends a word.
    @inline(__always)
    private static func letters(in block: Block) -> Block {
        isIn(UInt8(ascii: "0")...UInt8(ascii: "9"), block)
            | isIn(UInt8(ascii: "a")...UInt8(ascii: "z"), block | all(0x20))
    }
}
