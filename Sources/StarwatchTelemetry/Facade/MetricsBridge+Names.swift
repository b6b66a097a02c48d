// Sanitises names and labels of dependencies.
extension MetricsBridge {
    private static let timerSuffixes = [
        "_nanoseconds", "_microseconds", "_milliseconds", "_seconds", "_ns", "_us", "_ms",
    ]
    private static let reservedSuffixes = ["_total", "_sum", "_count", "_bucket", "_created", "_info"]
    private static let reservedLabels: Set<String> = ["le", "quantile", "job", "instance"]
    private static let maxLabelBytes = 64

    /// The name with a single `_total`.
    static func counterName(_ label: String) -> String { stripped(word(label), of: reservedSuffixes) + "_total" }

    /// The name with a single `_seconds`, which replaces any other time unit.
    static func timerName(_ label: String) -> String {
        stripped(stripped(word(label), of: reservedSuffixes), of: timerSuffixes) + "_seconds"
    }

    /// The name without suffixes of other kinds.
    static func gaugeName(_ label: String) -> String { stripped(word(label), of: reservedSuffixes) }

    /// The labels sorted by name, without duplicates. Values are redacted and cut to 64 bytes at a character boundary.
    static func labels(of dimensions: [(String, String)]) -> [(name: String, value: String)] {
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

    /// The text in lower case, with other characters than letters and digits replaced by `_`, beginning with a letter.
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
