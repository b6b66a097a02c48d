/// A fast check for lines without a match, which most lines are. It examines 16 bytes at a time, and single bytes only
/// where a match could begin. It can report a match where ``run()`` finds none, but never misses one.
extension RedactionScanner {
    /// 16 bytes as two words. Swift compares the lanes of a `SIMD16<UInt8>` one by one, but adds words in one step. The
    /// predicates below return their result in the highest bit of each byte.
    private typealias Block = SIMD2<UInt64>

    /// Whether ``run()`` could find a match.
    func mayFind() -> Bool {
        let end = bytes.count
        guard end > 16 else { return end > 0 }
        if Self.isFirstSign(bytes[0]), isSign(at: 0) { return true }
        let start = UnsafeRawPointer(bytes.baseAddress!)
        var previousIsID = false
        var position = 1
        while position + 16 <= end {
            let block = start.loadUnaligned(fromByteOffset: position, as: Block.self)
            let before = start.loadUnaligned(fromByteOffset: position - 1, as: Block.self)
            if holdsSign(block, before: before, at: position, &previousIsID) { return true }
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
            &previousIsID
        )
    }

    /// Whether a match could begin in a block.
    @inline(__always)
    private func holdsSign(_ block: Block, before: Block, at position: Int, _ previousIsID: inout Bool) -> Bool {
        let low = block & Self.lowBits
        let lowBefore = before & Self.lowBits
        // No match begins with a character beyond ASCII.
        let ascii = ~block & Self.highBits

        let isDigit = Self.isIn(UInt8(ascii: "0")...UInt8(ascii: "9"), low)
        let isCapital = Self.isIn(UInt8(ascii: "A")...UInt8(ascii: "Z"), low)
        // Any 26 bytes contain two complete neighbouring words of 8 bytes. A ULID has digits and capitals in both.
        let isID = (isDigit | isCapital) & ascii
        if isID.x == Self.highBit, isID.y == Self.highBit || previousIsID { return true }
        previousIsID = isID.y == Self.highBit

        let isOther =
            Self.isNot(UInt8(ascii: ":"), low) & Self.isNot(UInt8(ascii: "="), low)
            & Self.isNot(UInt8(ascii: "%"), low) & Self.isNot(UInt8(ascii: "\\"), low)
        let isBearer =
            ~(Self.isNot(UInt8(ascii: " "), low) & Self.isNot(0x09, low))
            & ~Self.isNot(UInt8(ascii: "r"), lowBefore | Self.caseBits)
        let isToken = ~(Self.isNot(UInt8(ascii: "J"), low) | Self.isNot(UInt8(ascii: "y"), lowBefore))
        let isCanonicalID =
            ~Self.isNot(UInt8(ascii: "_"), low) & Self.isIn(UInt8(ascii: "0")...UInt8(ascii: "9"), lowBefore)
        let signs = (~isOther | isBearer | isToken | isCanonicalID) & ascii
        return isAnySign(signs.x, at: position) || isAnySign(signs.y, at: position + 8)
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

    private func isSign(at position: Int) -> Bool {
        switch bytes[position] {
        case UInt8(ascii: "J"): return position >= 2 && bytes[position - 2] == UInt8(ascii: "e")
        case UInt8(ascii: "_"):
            return position >= 10 && position + 7 < bytes.count && bytes[position + 7] == UInt8(ascii: "_")
        case UInt8(ascii: ":"): return colon(at: position, next: position + 1)?.kind != nil
        default: return look(at: position)?.kind != nil
        }
    }

    private static func isFirstSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%")
    }

    // MARK: - Predicates on 16 bytes below 0x80

    private static let highBit: UInt64 = 0x8080_8080_8080_8080
    private static var highBits: Block { Block(repeating: highBit) }
    private static var lowBits: Block { Block(repeating: ~highBit) }
    private static var caseBits: Block { Block(repeating: 0x2020_2020_2020_2020) }

    @inline(__always)
    private static func all(_ byte: UInt8) -> Block { Block(repeating: UInt64(byte) &* 0x0101_0101_0101_0101) }

    /// Sets the highest bit of bytes that differ from `byte`.
    @inline(__always)
    private static func isNot(_ byte: UInt8, _ low: Block) -> Block { (low ^ all(byte)) &+ lowBits }

    /// Sets the highest bit of bytes in a range.
    @inline(__always)
    private static func isIn(_ range: ClosedRange<UInt8>, _ low: Block) -> Block {
        (low &+ all(0x80 - range.lowerBound)) & ~(low &+ all(0x7F - range.upperBound))
    }
}
