extension String {
    /// The text with each character as `escape` writes it, in at most `limit` units of `size`.
    ///
    /// A text that is too long ends with an ellipsis, and never within a character or its escape.
    func cut(to limit: Int, by size: (String) -> Int, escape: (Character) -> String = { String($0) }) -> String {
        var result = ""
        var count = 0
        // The end of what leaves room for the ellipsis.
        var end = result.endIndex
        for character in self {
            let piece = escape(character)
            count += size(piece)
            if count > limit { return result[..<end] + "…" }
            result += piece
            if count + size("…") <= limit { end = result.endIndex }
        }
        return result
    }
}
