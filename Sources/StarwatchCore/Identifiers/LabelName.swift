/// The rule for configured names, which become label values.
enum LabelName {
    /// Whether `text` matches `[a-z][a-z0-9_]{0,62}`.
    static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, (97...122).contains(first), bytes.count <= 63 else { return false }
        return bytes.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
