package import FoundationEssentials

/// JSON with sorted keys and unescaped slashes: equal values always give equal bytes.
package enum StableJSON {
    /// Encodes `value`, which must not contain an infinite number or NaN.
    package static func bytes(of value: some Encodable) -> [UInt8] {
        guard let data = try? JSONEncoder.stable().encode(value) else {
            preconditionFailure("\(type(of: value)) cannot be encoded as JSON.")
        }
        return Array(data)
    }

    /// The text of ``bytes(of:)``.
    package static func text(of value: some Encodable) -> String {
        String(decoding: bytes(of: value), as: UTF8.self)
    }
}

extension JSONEncoder {
    /// Creates an encoder whose output depends on the value alone: keys are sorted and slashes are not escaped.
    ///
    /// - Parameter isPretty: Whether the output is indented over several lines.
    package static func stable(isPretty: Bool = false) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return encoder
    }
}
