/// A fast check for lines without a match, which most lines are. It examines 16 bytes at a time, and single bytes only
/// where a match could begin. It can report a match where ``run()`` finds none, but never misses one.
extension RedactionScanner {
    /// 16 bytes. Swift compares two vectors in one step, but a vector and a single number byte by byte.
    private typealias Block = SIMD16<UInt8>
    private typealias Mask = SIMDMask<SIMD16<Int8>>

    /// Whether ``run()`` could find a match.
    func mayFind() -> Bool {
        let end = bytes.count
        guard end > 16 else { return end > 0 }
        if Self.isFirstSign(bytes[0]), isSign(at: 0) { return true }
        let start = UnsafeRawPointer(bytes.baseAddress!)
        var wordContinues = false
        var wordEnd = 0
        var position = 1
        while position + 16 <= end {
            let block = start.loadUnaligned(fromByteOffset: position, as: Block.self)
            let before = start.loadUnaligned(fromByteOffset: position - 1, as: Block.self)
            if holdsSign(block, before: before, at: position, &wordContinues, &wordEnd) { return true }
            position += 16
        }
        guard position < end else { return false }
        // The remaining bytes, padded with zeros.
        let missing = UInt128((position + 16 - end) * 8)
        let block = start.loadUnaligned(fromByteOffset: end - 16, as: UInt128.self) >> missing
        let before = start.loadUnaligned(fromByteOffset: end - 17, as: UInt128.self) >> missing
        return holdsSign(
            unsafeBitCast(block, to: Block.self),
            before: unsafeBitCast(before, to: Block.self),
            at: position,
            &wordContinues,
            &wordEnd
        )
    }

    /// Whether a match could begin in a block.
    ///
    /// - Parameters:
    ///   - wordContinues: Whether the eight bytes before the block are letters and digits.
    ///   - wordEnd: The end of the last long word, which contains no secret.
    @inline(__always)
    private func holdsSign(
        _ block: Block,
        before: Block,
        at position: Int,
        _ wordContinues: inout Bool,
        _ wordEnd: inout Int
    ) -> Bool {
        // These ranges have the signs `%&+` and `:=@`; their other characters are rare.
        let isColon = Self.isIn(UInt8(ascii: ":")...UInt8(ascii: "@"), block)
        let isPercent = Self.isIn(UInt8(ascii: "%")...UInt8(ascii: "+"), block)

        // Letters and digits. Any 26 bytes contain two complete neighbouring words of 8 bytes.
        let isWord = Self.isIn(UInt8(ascii: "0")...UInt8(ascii: "z"), block | Self.all(0x20)) .& .!isColon
        let words = unsafeBitCast(isWord, to: SIMD2<UInt64>.self)
        if words.x == UInt64.max, words.y == UInt64.max || wordContinues, holdsSecret(at: position, &wordEnd) {
            return true
        }
        wordContinues = words.y == UInt64.max

        // Supersets, which are cheaper: control characters are rare, and a rare sign is examined further.
        let isBearer = (block .<= Self.all(0x20)) .& Self.equals(UInt8(ascii: "r"), before | Self.all(0x20))
        let isToken = Self.equals(UInt8(ascii: "J"), block) .& Self.equals(UInt8(ascii: "y"), before)
        let isUnderscore = Self.equals(UInt8(ascii: "_"), block) .& (before .<= Self.all(UInt8(ascii: "c")))
        let isDash = Self.equals(UInt8(ascii: "-"), block) .& Self.equals(UInt8(ascii: "-"), before)
        let isOther = isToken .| isUnderscore .| isDash .| Self.equals(UInt8(ascii: "\\"), block)
        let isSign = isColon .| isPercent .| isBearer .| isOther
        // Characters beyond ASCII are signs too. Each sign has its highest bit set.
        let signs = unsafeBitCast(unsafeBitCast(isSign, to: Block.self) | block, to: SIMD2<UInt64>.self)
        let (low, high) = (signs.x & Self.highBit, signs.y & Self.highBit)
        return low | high != 0 && (isAnySign(low, at: position) || isAnySign(high, at: position &+ 8))
    }

    /// Whether the letters and digits around a position are a secret.
    @inline(never)
    private func holdsSecret(at position: Int, _ wordEnd: inout Int) -> Bool {
        guard position >= wordEnd else { return false }
        var start = position
        while start > 0, bytes[start - 1].isLetter || bytes[start - 1].isDigit { start -= 1 }
        // Eight bytes from the position on are letters and digits.
        var end = position + 8
        while end < bytes.count, bytes[end].isLetter || bytes[end].isDigit { end += 1 }
        wordEnd = end
        guard end - start >= Self.shortestSecret else { return false }
        // Most long words are hexadecimal ids, which no secret but one of a certain length is.
        guard
            (0...5).contains(end - start - 26) || (0...7).contains(end - start - 64)
                || !bytes[start..<end].allSatisfy({ $0 <= UInt8(ascii: "f") })
        else { return false }
        return secret(from: start, wordEnd: end) != nil
    }

    /// Whether a match begins at any of the bytes with their highest bit set.
    @inline(__always)
    private func isAnySign(_ signs: UInt64, at position: Int) -> Bool {
        var signs = signs
        while signs != 0 {
            if isSign(at: position + signs.trailingZeroBitCount / 8) { return true }
            signs &= signs &- 1
        }
        return false
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
        case UInt8(ascii: "J"): return position >= 2 && bytes[position - 2] == UInt8(ascii: "e")
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

    /// Whether a match could begin with a byte at the start of the line, which is in no block.
    private static func isFirstSign(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ":"), UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "&"), 0x80...:
            return true
        default: return false
        }
    }

    // MARK: - Predicates on 16 bytes

    private static let highBit: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    private static func all(_ byte: UInt8) -> Block { Block(repeating: byte) }

    /// The bytes that equal `byte`.
    @inline(__always)
    private static func equals(_ byte: UInt8, _ block: Block) -> Mask { block .== all(byte) }

    /// The bytes in a range.
    @inline(__always)
    private static func isIn(_ range: ClosedRange<UInt8>, _ block: Block) -> Mask {
        (block &- all(range.lowerBound)) .<= all(range.upperBound - range.lowerBound)
    }
}
