/// One pass over one line. A table lookup skips words; matches begin only at the bytes between them.
struct RedactionScanner {
    /// A range to replace. A match without a kind is skipped unchanged.
    struct Match {
        let start: Int
        let end: Int
        let kind: RedactionKind?
    }

    /// A range that is replaced.
    struct Replacement {
        let range: Range<Int>
        let kind: RedactionKind
    }

    private static let word: UInt8 = 0
    private static let underscore: UInt8 = 1
    private static let separator: UInt8 = 2
    private static let trigger: UInt8 = 3

    /// The class of each byte: part of a word, an underscore in a word, a separator, or a separator that can indicate a
    /// match.
    private static let classes: [UInt8] = {
        var classes = [UInt8](repeating: separator, count: 256)
        for byte in UInt8.min...UInt8.max where byte.isLetter || byte.isDigit { classes[Int(byte)] = word }
        for sign in ":=. %\\\t@+-".utf8 { classes[Int(sign)] = trigger }
        classes[0x5F] = underscore
        return classes
    }()

    let bytes: UnsafeBufferPointer<UInt8>
    /// The classes' memory. Valid only during ``run()``.
    private var classes = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The end of the last replacement.
    private(set) var flushed = 0
    private var replacements: [Replacement] = []

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Returns the ranges to replace, in order.
    mutating func run() -> [Replacement] {
        Self.classes.withUnsafeBufferPointer { classes in
            self.classes = classes
            scan()
        }
        return replacements
    }

    private mutating func scan() {
        let end = bytes.count
        var position = 0
        var wordStart = 0
        while true {
            while position < end, classes[Int(bytes[position])] == Self.word { position += 1 }
            let byteClass = position < end ? classes[Int(bytes[position])] : Self.separator
            if byteClass == Self.underscore {
                let match = look(at: position)
                position = take(match, at: position)
                if match != nil { wordStart = position }
                continue
            }
            if position - wordStart >= Self.shortestSecret { checkWord(from: wordStart, to: position) }
            guard position < end else { break }
            position = take(byteClass == Self.trigger ? look(at: position) : nil, at: position)
            wordStart = position
        }
    }

    /// Replaces or skips a match, and returns the position after it, or after a byte without a match.
    private mutating func take(_ match: Match?, at position: Int) -> Int {
        guard let match else { return position + 1 }
        guard let kind = match.kind else { return max(match.end, position) }
        let end = end(of: match)
        replace(match.start..<end, with: kind)
        return max(end, position)
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
        case UInt8(ascii: "_"): return underscore(at: position, next: next)
        case UInt8(ascii: "@"): return address(sign: position, next: next)
        case UInt8(ascii: "+"): return phoneNumber(plus: position, next: next)
        case UInt8(ascii: "-"): return pemBlock(dash: position)
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
        return field(colon: position, next: next)
    }

    private mutating func replace(_ range: Range<Int>, with kind: RedactionKind) {
        let matchStart = max(range.lowerBound, flushed)
        // The text before the match becomes a word of its own.
        var start = matchStart
        while start > flushed, classes[Int(bytes[start - 1])] <= Self.underscore { start -= 1 }
        checkWord(from: start, to: matchStart)
        append(matchStart..<range.upperBound, kind)
    }

    /// Replaces the identifiers and keys in a word.
    private mutating func checkWord(from start: Int, to end: Int) {
        var part = start
        while end - part >= Self.shortestSecret {
            if let match = secret(from: part, wordEnd: end), let kind = match.kind {
                append(match.start..<match.end, kind)
                part = match.end
            }
            while part < end, bytes[part] != 0x5F { part += 1 }
            part += 1
        }
    }

    private mutating func append(_ range: Range<Int>, _ kind: RedactionKind) {
        replacements.append(Replacement(range: range, kind: kind))
        flushed = range.upperBound
    }
}
