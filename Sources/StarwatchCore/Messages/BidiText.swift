/// Names of strangers in texts for people, whose characters can change the direction of the text around them.
package enum BidiText {
    /// The name as it can stand in a text: without unbalanced controls of direction, and between FSI and PDI if it could
    /// affect the text around it (Unicode Bidirectional Algorithm, UAX #9).
    ///
    /// A name from left to right in a text from left to right needs no isolation, so that its text has no characters
    /// that nobody sees.
    ///
    /// - Parameter isRightToLeft: Whether the text around it runs from right to left.
    package static func isolated(_ name: String, isRightToLeft: Bool = false) -> String {
        let name = balanced(name)
        guard isRightToLeft || name.unicodeScalars.contains(where: affectsDirection) else { return name }
        return "\u{2068}\(name)\u{2069}"
    }

    /// The text with a visible escape, such as `[U+202E]`, in place of each control that reorders text: embeddings,
    /// overrides, and isolates that nothing closes or that close nothing. Balanced isolates, which keep a name from
    /// affecting the text around it, stay.
    package static func visible(_ text: String) -> String {
        guard text.utf8.contains(0xe2) else { return text }
        let unbalanced = unbalanced(text)
        var result = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if ("\u{202a}"..."\u{202e}").contains(scalar) || unbalanced.contains(index) {
                result.append(contentsOf: "[U+\(String(scalar.value, radix: 16, uppercase: true))]".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The text without controls of direction that nothing closes or that close nothing.
    package static func balanced(_ text: String) -> String {
        guard text.utf8.contains(0xe2) else { return text }
        let unbalanced = unbalanced(text)
        guard !unbalanced.isEmpty else { return text }
        var result = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() where !unbalanced.contains(index) {
            result.append(scalar)
        }
        return String(result)
    }

    /// The positions of the controls that nothing closes or that close nothing.
    private static func unbalanced(_ text: String) -> Set<Int> {
        var open: [(index: Int, isIsolate: Bool)] = []
        var unbalanced: Set<Int> = []
        for (index, scalar) in text.unicodeScalars.enumerated() {
            switch scalar {
            case "\u{202a}", "\u{202b}", "\u{202d}", "\u{202e}": open.append((index, false))
            case "\u{2066}"..."\u{2068}": open.append((index, true))
            case "\u{202c}":
                if open.last?.isIsolate == false { open.removeLast() } else { unbalanced.insert(index) }
            case "\u{2069}":
                if let start = open.lastIndex(where: \.isIsolate) {
                    // The end of an isolate ends the embeddings inside of it.
                    unbalanced.formUnion(open[(start + 1)...].map(\.index))
                    open.removeSubrange(start...)
                } else {
                    unbalanced.insert(index)
                }
            default: continue
            }
        }
        return unbalanced.union(open.map(\.index))
    }

    /// Whether a character runs from right to left, or controls the direction.
    private static func affectsDirection(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Hebrew to Arabic Extended, their presentation forms, and the right-to-left scripts of the next plane.
        case 0x590...0x8ff, 0xfb1d...0xfdff, 0xfe70...0xfeff, 0x10800...0x10fff, 0x1e800...0x1efff: true
        case 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

extension LocaleTag {
    /// Whether the language is written from right to left.
    var isRightToLeft: Bool { ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"].contains(language) }
}
