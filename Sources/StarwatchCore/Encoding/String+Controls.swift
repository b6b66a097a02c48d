extension String {
    /// The text without control characters (C0 and C1), so that every store, sink and terminal shows the same. A tab
    /// and a line end become one space.
    ///
    /// - Parameter keepsLines: Whether tabs and line ends stay.
    func withoutControls(keepsLines: Bool = false) -> String {
        guard hasControls else { return self }
        var clean = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in unicodeScalars {
            let isLineFeed = scalar == "\n"
            defer { isAfterReturn = scalar == "\r" }
            switch scalar {
            case "\t", "\n", "\r":
                if keepsLines { clean.append(scalar) } else if !isLineFeed || !isAfterReturn { clean.append(" ") }
            case "\u{85}", "\u{2028}", "\u{2029}": clean.append(keepsLines ? "\n" : " ")
            case "\0"..."\u{1f}", "\u{80}"..."\u{9f}": break
            default: clean.append(scalar)
            }
        }
        return String(clean)
    }

    /// Whether there is anything to remove. Reads eight bytes at a time, because nearly no text has any: byte by byte, this
    /// takes 6 % of the instructions of a decoded page (`Benchmarks/instructions`).
    private var hasControls: Bool {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        var copy = self
        return copy.withUTF8 { bytes in
            var start = 0
            while start + 8 <= bytes.count {
                let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: start, as: UInt64.self)
                start += 8
                // Neither a byte above 0x7f nor one below 0x20.
                if (word | (word &- ones &* 0x20)) & tops == 0 { continue }
                // U+0080 to U+009F begin with 0xc2, and U+2028 and U+2029 with 0xe2.
                let leads = (word | ones &* 0x20) ^ (ones &* 0xe2)
                guard ((leads &- ones) & ~leads | (word &- ones &* 0x20) & ~word) & tops == 0 else {
                    start -= 8
                    break
                }
            }
            for index in start..<bytes.count {
                switch bytes[index] {
                case 0..<0x20: return true
                case 0xc2 where bytes[index + 1] < 0xa0: return true
                case 0xe2 where bytes[index + 1] == 0x80 && bytes[index + 2] & 0xfe == 0xa8: return true
                default: continue
                }
            }
            return false
        }
    }
}

extension String {
    /// Creates the digits of a number that is not negative, with zeros before them up to a width.
    package init(_ number: some BinaryInteger, width: Int, radix: Int = 10) {
        let digits = String(number, radix: radix)
        self = String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}

extension String {
    /// Whether it has 1 to 64 letters, digits, `.`, `_` and `-` of ASCII, and so needs no escape anywhere.
    package var isPlainName: Bool {
        (1...64).contains(utf8.count) && utf8.allSatisfy { $0.isAlphanumeric || "._-".utf8.contains($0) }
    }

    /// The text without leading and trailing white space.
    package var trimmingSpaces: String {
        var part = self[...]
        while part.first?.isWhitespace == true { part.removeFirst() }
        while part.last?.isWhitespace == true { part.removeLast() }
        return String(part)
    }
}
