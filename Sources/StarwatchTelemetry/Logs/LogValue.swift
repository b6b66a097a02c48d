/// A value of a log field.
package enum LogValue: Sendable {
    case string(String)
    case integer(Int64)
    case double(Double)
    case bool(Bool)
    case array([LogValue])
    case object([(String, LogValue)])

    /// The value as a number, also parsed from a string; `nil` if it is not a finite number.
    var number: LogValue? {
        switch self {
        case .integer: self
        case .double(let value): value.isFinite ? self : nil
        case .string(let text): Int64(text).map(LogValue.integer) ?? Self.finite(text)
        case .bool, .array, .object: nil
        }
    }

    private static func finite(_ text: String) -> LogValue? {
        guard let first = text.utf8.first, first.isDigit || first == 0x2D, let value = Double(text), value.isFinite
        else { return nil }
        return .double(value)
    }
}

extension [UInt8] {
    /// Appends a value as JSON. Doubles that are not finite become null.
    mutating func append(json value: LogValue) {
        switch value {
        case .string(let text): append(jsonString: text)
        case .integer(let integer): append(text: integer.description)
        case .double(let double): double.isFinite ? append(value: double) : append(text: "null")
        case .bool(let flag): append(text: flag ? "true" : "false")
        case .array(let values):
            append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(json: value)
            }
            append(UInt8(ascii: "]"))
        case .object(let fields):
            append(UInt8(ascii: "{"))
            for (index, field) in fields.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(jsonString: field.0)
                append(UInt8(ascii: ":"))
                append(json: field.1)
            }
            append(UInt8(ascii: "}"))
        }
    }

    /// Appends a quoted JSON string. Control characters, including U+0080 to U+009F, are escaped: a line stays one line
    /// and cannot control a terminal.
    mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        var last: UInt8 = 0
        for byte in text.utf8 {
            defer { last = byte }
            switch byte {
            case 0x80..<0xA0 where last == 0xC2:
                removeLast()
                append(text: #"\u00"#)
                append(hexDigit: byte >> 4)
                append(hexDigit: byte & 0xF)
            case UInt8(ascii: "\""): append(text: #"\""#)
            case UInt8(ascii: "\\"): append(text: #"\\"#)
            case 0x0A: append(text: #"\n"#)
            case 0x0D: append(text: #"\r"#)
            case 0x09: append(text: #"\t"#)
            case 0..<0x20, 0x7F:
                append(text: #"\u00"#)
                append(hexDigit: byte >> 4)
                append(hexDigit: byte & 0xF)
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(hexDigit: UInt8) { append(hexDigit < 10 ? 0x30 + hexDigit : 0x57 + hexDigit) }
}
