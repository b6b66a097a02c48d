/// Makes names and labels of dependencies fit the page.
enum ForeignName {
    private static let timerSuffixes = [
        "_nanoseconds", "_microseconds", "_milliseconds", "_seconds", "_ns", "_us", "_ms",
    ]
    private static let reservedSuffixes = ["_total", "_sum", "_count", "_bucket", "_created", "_info"]
    private static let reservedLabels: Set<String> = ["le", "quantile", "job", "instance"]
    private static let maxLabelBytes = 64

    /// The name with `_total` once.
    static func counter(_ label: String) -> String {
        stripped(word(label), of: reservedSuffixes) + "_total"
    }

    /// The name with `_seconds` once, in place of another unit of time.
    static func timer(_ label: String) -> String {
        stripped(stripped(word(label), of: reservedSuffixes), of: timerSuffixes) + "_seconds"
    }

    /// The name without the suffixes that belong to other kinds.
    static func gauge(_ label: String) -> String {
        stripped(word(label), of: reservedSuffixes)
    }

    /// Labels sorted by name, the first of each name; values redacted and cut to 64 bytes, at a character.
    static func labels(_ dimensions: [(String, String)]) -> [(name: String, value: String)] {
        var seen: Set<String> = []
        return dimensions.map { (word($0.0), $0.1) }
            .map { (name: reservedLabels.contains($0.0) ? "exported_" + $0.0 : $0.0, value: value($0.1)) }
            .filter { seen.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
    }

    private static func value(_ text: String) -> String {
        var bytes = Array(text.utf8)
        Redactor().redact(&bytes)
        var cut = String(decoding: bytes, as: UTF8.self)
        while cut.utf8.count > maxLabelBytes { cut.removeLast() }
        return cut
    }

    /// Lower case, everything but letters and digits as one `_`, and a letter in front.
    private static func word(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isLowercaseLetter || byte.isDigit {
                bytes.append(byte)
            } else if byte.isUppercaseLetter {
                bytes.append(byte + 0x20)
            } else if bytes.last != 0x5F {
                bytes.append(0x5F)
            }
        }
        while bytes.last == 0x5F { bytes.removeLast() }
        while bytes.first == 0x5F { bytes.removeFirst() }
        guard let first = bytes.first else { return "unnamed" }
        return (first.isDigit ? "n" : "") + String(decoding: bytes, as: UTF8.self)
    }

    private static func stripped(_ name: String, of suffixes: [String]) -> String {
        var name = name
        while let suffix = suffixes.first(where: { name.hasSuffix($0) && name.count > $0.count }) {
            name.removeLast(suffix.count)
        }
        return name
    }
}
