/// Writes texts as JSON, with the bytes of ``StableJSON``. Foundation's encoder takes half of the time that a backlog's page
/// takes in the database (`Benchmarks/poll backlog`).
package enum JSONQuotes {
    /// Appends an object, the member of each element by `append`.
    static func append<Element>(
        object elements: [Element],
        to bytes: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "{"))
        for element in elements { append(element, &bytes) }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends an object of texts, without the members whose text is `nil`.
    package static func append(_ members: [(name: String, text: String?)], to bytes: inout [UInt8]) {
        append(object: members, to: &bytes) { append($0.name, $0.text, to: &$1) }
    }

    /// Appends an array, each element by `append`.
    package static func append<Element>(
        array elements: [Element],
        to bytes: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            appendComma(to: &bytes)
            append(element, &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Appends a member, unless its text is `nil`.
    static func append(_ name: String, _ text: String?, to bytes: inout [UInt8]) {
        guard let text else { return }
        appendName(name, to: &bytes)
        append(text, to: &bytes)
    }

    /// Appends a member that is a number or a flag, unless it is `nil`.
    static func append(_ name: String, plain value: (some CustomStringConvertible)?, to bytes: inout [UInt8]) {
        guard let value else { return }
        appendName(name, to: &bytes)
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Appends a member that is a list of texts, unless it is `nil`.
    static func append(_ name: String, list texts: [String]?, to bytes: inout [UInt8]) {
        guard let texts else { return }
        appendName(name, to: &bytes)
        append(array: texts, to: &bytes) { append($0, to: &$1) }
    }

    /// Appends a member that is an object of texts, unless it is `nil`.
    static func append(_ name: String, texts: [String: String]?, to bytes: inout [UInt8]) {
        guard let texts else { return }
        appendName(name, to: &bytes)
        append(texts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &bytes)
    }

    /// Appends the name of a member.
    static func appendName(_ name: String, to bytes: inout [UInt8]) {
        appendComma(to: &bytes)
        append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Appends a comma, unless `bytes` end with an opening bracket.
    private static func appendComma(to bytes: inout [UInt8]) {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else { return }
        bytes.append(UInt8(ascii: ","))
    }

    /// Appends `text` between quotes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { content in
            if isPlain(content) {
                bytes.append(contentsOf: content)
            } else {
                for byte in content { append(byte, to: &bytes) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether no byte is escaped. Reads eight bytes at a time, as the parser does.
    private static func isPlain(_ content: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index + 8 <= content.count {
            let word = UnsafeRawBufferPointer(content).loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard JSONParser.specialBytes(of: word) == 0 else { return false }
            index += 8
        }
        return !content[index...].contains(where: isEscaped)
    }

    @inline(__always)
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        guard isEscaped(byte) else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 48 + digit : 87 + digit) }
        default: bytes.append(byte)
        }
    }
}

extension String {
    /// The text of the bytes between two quotes; `nil` if an escape is invalid, a control character is not escaped, or
    /// the bytes are not UTF-8.
    ///
    /// Half of a pair of surrogates becomes U+FFFD. JavaScript's texts can have one, and its `JSON.stringify` escapes it.
    static func json(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                guard byte >= 0x20 else { return nil }
                decoded.append(byte)
                continue
            }
            switch rest.popFirst() {
            case let byte? where "\"\\/".utf8.contains(byte): decoded.append(byte)
            case UInt8(ascii: "b"): decoded.append(0x08)
            case UInt8(ascii: "f"): decoded.append(0x0c)
            case UInt8(ascii: "n"): decoded.append(0x0a)
            case UInt8(ascii: "r"): decoded.append(0x0d)
            case UInt8(ascii: "t"): decoded.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(&rest) else { return nil }
                decoded += UTF8.encode(scalar)!
            default: return nil
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Reads the digits after `\u`, and the second half of a pair of surrogates.
    private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Unicode.Scalar? {
        guard let unit = unit(&rest) else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? replacement }
        var following = rest
        guard following.popFirst() == UInt8(ascii: "\\"), following.popFirst() == UInt8(ascii: "u"),
            let second = Self.unit(&following), UTF16.isTrailSurrogate(second)
        else { return replacement }
        rest = following
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private static let replacement: Unicode.Scalar = "\u{fffd}"

    private static func unit(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = rest.popFirst(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
