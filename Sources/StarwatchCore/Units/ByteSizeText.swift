/// Sizes in configuration syntax: `64KiB`, `10MiB`, or plain bytes.
public enum ByteSizeText {
    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Parses a whole number with `B`, `KiB`, `MiB`, `GiB` or nothing, into bytes.
    public static func parse(_ text: String) throws(UnitTextError) -> Int {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let name = text.dropFirst(digits.count)
        guard !digits.isEmpty, let unit = name.isEmpty ? units.last : units.first(where: { $0.name == name }) else {
            throw .byteSize(text)
        }
        guard let number = Int(digits), number <= (1 << 53) / unit.bytes else { throw .byteSizeTooLarge(text) }
        return number * unit.bytes
    }

    private static let otherNames: [String: String] = [
        "k": "KiB", "kb": "KiB", "kib": "KiB", "m": "MiB", "mb": "MiB", "mib": "MiB", "g": "GiB", "gb": "GiB",
        "gib": "GiB",
    ]

    /// Returns the size that a wrong text probably means: `10MiB` for `10MB` and `10 m`.
    static func intended(by text: String) -> String? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let name = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        guard !digits.isEmpty, digits.count < 10, let unit = otherNames[name] else { return nil }
        return digits + unit
    }

    /// The size for a person, in whole units of which there are ten or more: `58 GiB`, `640 MiB`.
    package static func rough(_ bytes: Int) -> String {
        let unit = units.first { bytes >= 10 * $0.bytes } ?? ("B", 1)
        return "\(bytes / unit.bytes) \(unit.name)"
    }

    /// Formats the size in the largest unit that divides it: `65536` is `64KiB`.
    public static func format(_ bytes: Int) -> String {
        for unit in units where bytes != 0 && bytes % unit.bytes == 0 && unit.bytes > 1 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "\(bytes)"
    }
}
