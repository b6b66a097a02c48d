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

    /// Whether there is anything to remove. Reads bytes, because nearly no text has any.
    private var hasControls: Bool {
        var copy = self
        return copy.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case 0..<0x20: return true
                // U+0080 to U+009F, and U+2028 and U+2029.
                case 0xc2 where bytes[index + 1] < 0xa0: return true
                case 0xe2 where bytes[index + 1] == 0x80 && bytes[index + 2] & 0xfe == 0xa8: return true
                default: continue
                }
            }
            return false
        }
    }
}
