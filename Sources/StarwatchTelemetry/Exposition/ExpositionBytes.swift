/// Output primitives of both formats.
extension [UInt8] {
    mutating func append(text: String) { append(contentsOf: text.utf8) }

    /// Appends a sample's value: whole numbers without a fraction, others as the shortest text that parses to the same
    /// value.
    mutating func append(value: Double) {
        if value.magnitude < 9e15, value == value.rounded(.towardZero) {
            if value < 0 { append(UInt8(ascii: "-")) }
            append(integer: UInt64(value.magnitude))
        } else if value.isNaN {
            append(text: "NaN")
        } else if value.isInfinite {
            append(text: value < 0 ? "-Inf" : "+Inf")
        } else {
            append(text: value.description)
        }
    }

    mutating func append(integer: UInt64) { append(text: integer.description) }

    /// Appends the beginning of a line, a number and a line feed.
    mutating func append(line start: [UInt8], integer: UInt64) {
        self += start
        append(integer: integer)
        append(UInt8(ascii: "\n"))
    }

    /// Appends the beginning of a line, a value and a line feed.
    mutating func append(line start: [UInt8], value: Double) {
        self += start
        append(value: value)
        append(UInt8(ascii: "\n"))
    }

    /// Appends Unix milliseconds as seconds with three decimals.
    mutating func append(milliseconds: Int64) {
        if milliseconds < 0 { append(UInt8(ascii: "-")) }
        let magnitude = milliseconds.magnitude
        append(integer: magnitude / 1000)
        append(UInt8(ascii: "."))
        for divisor: UInt64 in [100, 10, 1] { append(0x30 + UInt8(magnitude / divisor % 10)) }
    }

    /// Appends a label's value or a help text. Both formats escape `\` and line feed.
    ///
    /// - Parameter quotes: Whether to escape `"`: in label values, and in OpenMetrics' help texts.
    mutating func append(escaped text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append(text: #"\\"#)
            case UInt8(ascii: "\"") where quotes: append(text: #"\""#)
            case UInt8(ascii: "\n"): append(text: #"\n"#)
            default: append(byte)
            }
        }
    }

    /// The beginning of a sample's line, up to its value: `name{label="value",…} `.
    init(sample name: String, labels: [(name: String, value: String)]) {
        self = Array(name.utf8)
        if !labels.isEmpty {
            append(UInt8(ascii: "{"))
            for (index, label) in labels.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(text: label.name)
                append(text: "=\"")
                append(escaped: label.value, quotes: true)
                append(UInt8(ascii: "\""))
            }
            append(UInt8(ascii: "}"))
        }
        append(UInt8(ascii: " "))
    }

    /// Appends ` # {run_id="…",request_id="…"} value timestamp`.
    mutating func append(exemplar entry: ExemplarSlots.Entry) {
        append(text: " # {run_id=\"")
        append(text: entry.exemplar.runID)
        if let id = entry.exemplar.requestID {
            append(text: "\",request_id=\"")
            append(text: id)
        }
        append(text: "\"} ")
        append(value: entry.value)
        append(UInt8(ascii: " "))
        append(milliseconds: entry.exemplar.timestampMilliseconds)
    }
}

/// The canonical form of OpenMetrics for a number in a label, such as `le`.
extension Double {
    /// Formats a number with the shortest digits, and with an exponent below -4 and from 6 on: `1.0`, `0.005`, `1e+06`,
    /// `+Inf`.
    var canonicalText: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-Inf" : "+Inf" }
        if self == 0 { return "0.0" }
        let (digits, exponent) = magnitude.shortestDigits
        let sign = self < 0 ? "-" : ""
        if exponent < -4 || exponent >= 6 {
            let rest = digits.dropFirst()
            let power = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
            return sign + digits.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e" + (exponent < 0 ? "-" : "+") + power
        }
        if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits }
        let whole = digits.prefix(exponent + 1)
        let fraction = digits.dropFirst(exponent + 1)
        let padding = String(repeating: "0", count: exponent + 1 - whole.count)
        return sign + whole + padding + "." + (fraction.isEmpty ? "0" : fraction)
    }

    /// The shortest digits that parse to the same value, and the power of ten of the first digit.
    private var shortestDigits: (digits: String, exponent: Int) {
        let parts = description.split(separator: "e")
        var exponent = parts.count == 2 ? Int(parts[1])! : 0
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var digits = String(mantissa[0]) + (mantissa.count == 2 ? String(mantissa[1]) : "")
        exponent += mantissa[0].count - 1
        while digits.hasPrefix("0"), digits.count > 1 {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.hasSuffix("0"), digits.count > 1 { digits.removeLast() }
        return (digits, exponent)
    }
}
