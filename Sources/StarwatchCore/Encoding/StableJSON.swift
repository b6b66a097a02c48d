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

    /// The texts of a JSON array in which nothing is escaped and nothing is blank between them; `nil` for any other JSON.
    package static func plainTexts(in json: String) -> [String]? {
        let bytes = json.utf8
        guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]"), bytes.count >= 2 else { return nil }
        var texts: [String] = []
        var rest = bytes.dropFirst().dropLast()
        while !rest.isEmpty {
            if !texts.isEmpty {
                guard rest.first == UInt8(ascii: ",") else { return nil }
                rest = rest.dropFirst()
            }
            guard rest.first == UInt8(ascii: "\"") else { return nil }
            rest = rest.dropFirst()
            guard
                let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 < 0x20 }),
                rest[end] == UInt8(ascii: "\"")
            else { return nil }
            texts.append(String(Substring(rest[..<end])))
            rest = rest[rest.index(after: end)...]
        }
        return texts
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
