extension String {
    /// The text without leading and trailing white space.
    package var trimmingSpaces: String {
        var part = self[...]
        while part.first?.isWhitespace == true { part.removeFirst() }
        while part.last?.isWhitespace == true { part.removeLast() }
        return String(part)
    }
}
