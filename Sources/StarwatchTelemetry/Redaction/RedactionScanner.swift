/// One pass over one line. A table lookup skips words; matches begin only at the bytes between them.
struct RedactionScanner {
    /// A range to replace. A match without a kind is skipped unchanged.
    struct Match {
        let start: Int
        let end: Int
        let kind: RedactionKind?
    }

    private static let word: UInt8 = 0
    private static let separator: UInt8 = 1
    private static let trigger: UInt8 = 2

    /// The class of each byte: part of a word, a separator, or a separator that can indicate a match.
    private static let classes: [UInt8] = {
        var classes = [UInt8](repeating: separator, count: 256)
        for byte in UInt8.min...UInt8.max where byte.isLetter || byte.isDigit || byte == 0x5F {
            classes[Int(byte)] = word
        }
        for sign in ":=. %\\\t".utf8 { classes[Int(sign)] = trigger }
        return classes
    }()

    let bytes: UnsafeBufferPointer<UInt8>
    /// The classes' memory. Valid only during ``run()``.
    private var classes = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The position up to which the input is in the output.
    private var flushed = 0
    private var output: [UInt8] = []
    private var counts = RedactionCounts()

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Returns the redacted bytes; `nil` if nothing was replaced.
    mutating func run() -> (output: [UInt8], counts: RedactionCounts)? {
        Self.classes.withUnsafeBufferPointer { classes in
            self.classes = classes
            return scan()
        }
    }

    private mutating func scan() -> (output: [UInt8], counts: RedactionCounts)? {
        let end = bytes.count
        var position = 0
        var wordStart = 0
        while true {
            while position < end, classes[Int(bytes[position])] == Self.word { position += 1 }
            if position - wordStart >= 26 { checkWord(from: wordStart, to: position) }
            guard position < end else { break }
            if classes[Int(bytes[position])] == Self.trigger, let match = look(at: position) {
                if let kind = match.kind { replace(match, with: kind) }
                position = max(match.end, position)
            } else {
                position += 1
            }
            wordStart = position
        }
        guard flushed > 0 else { return nil }
        output.append(contentsOf: bytes[flushed...])
        return (output, counts)
    }

    /// The match indicated by the plain or encoded character at a position.
    func look(at position: Int) -> Match? {
        let unit = unit(at: position)
        let next = position + unit.length
        switch unit.value {
        case UInt8(ascii: ":"): return colon(at: position, next: next)
        case UInt8(ascii: "="): return parameter(equals: position, next: next)
        case UInt8(ascii: "."): return jsonWebToken(dot: position)
        case UInt8(ascii: " "), 0x09: return bearerToken(space: position, next: next)
        default: return nil
        }
    }

    /// The match indicated by a colon.
    @inline(__always)
    func colon(at position: Int, next: Int) -> Match? {
        let before = position > 0 ? bytes[position - 1] : 0
        // The last letter of `did`, or the last digit of its encoding, `%64`.
        if before | 0x20 == UInt8(ascii: "d") || before == UInt8(ascii: "4"),
            let match = did(colon: position, next: next)
        {
            return match
        }
        switch next < bytes.count ? bytes[next] : 0 {
        case UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "\\"):
            if let match = userInformation(colon: position, next: next) { return match }
        default: break
        }
        return isFieldName(before: position) ? field(colon: position, next: next) : nil
    }

    private mutating func replace(_ match: Match, with kind: RedactionKind) {
        let matchStart = max(match.start, flushed)
        // The text before the match becomes a word of its own.
        var start = matchStart
        while start > flushed, matchStart - start <= 40, classes[Int(bytes[start - 1])] == Self.word { start -= 1 }
        checkWord(from: start, to: matchStart)
        if flushed == 0 { output.reserveCapacity(bytes.count + 32) }
        output.append(contentsOf: bytes[flushed..<matchStart])
        output.append(text: kind.replacement)
        flushed = match.end
        counts[kind] += 1
    }

    // MARK: - Ids

    /// Replaces a word of 26 bytes that is an identifier. The word can follow the rest of an escape, such as `\n` or
    /// `%2F`.
    private mutating func checkWord(from start: Int, to end: Int) {
        let before = start > flushed ? bytes[start - 1] : 0
        let skipped: Int
        switch end - start {
        case 26: skipped = 0
        case 28 where before == 0x25 && hexByte(at: start) != nil: skipped = 2
        case 30 where before == 0x25 && hexByte(at: start) == 0x25 && hexByte(at: start + 2) != nil: skipped = 4
        case 27 where before == 0x5C && "nrtbf".utf8.contains(bytes[start]): skipped = 1
        case 31 where before == 0x5C && bytes[start] == UInt8(ascii: "u"): skipped = 5
        default: return
        }
        let first = start + skipped
        guard isULID(at: first) || isCanonicalID(at: first) else { return }
        if flushed == 0 { output.reserveCapacity(bytes.count + 32) }
        output.append(contentsOf: bytes[flushed..<first])
        output.append(text: RedactionKind.id.replacement)
        flushed = end
        counts.id += 1
    }

    /// Whether the word matches `^[0-9A-HJKMNP-TV-Z]{26}$`.
    private func isULID(at start: Int) -> Bool {
        for byte in bytes[start..<start + 26] {
            guard byte.isDigit || byte.isUppercaseLetter else { return false }
            switch byte {
            case UInt8(ascii: "I"), UInt8(ascii: "L"), UInt8(ascii: "O"), UInt8(ascii: "U"): return false
            default: break
            }
        }
        return true
    }

    /// Whether the word matches `^[0-9]{10}_[A-Za-z0-9]{6}_[a-f0-9]{8}$`.
    private func isCanonicalID(at start: Int) -> Bool {
        guard bytes[start + 10] == 0x5F, bytes[start + 17] == 0x5F else { return false }
        return bytes[start..<start + 10].allSatisfy(\.isDigit)
            && bytes[start + 11..<start + 17].allSatisfy { $0.isDigit || $0.isLetter }
            && bytes[start + 18..<start + 26].allSatisfy { $0.isDigit || (0x61...0x66).contains($0) }
    }
}
