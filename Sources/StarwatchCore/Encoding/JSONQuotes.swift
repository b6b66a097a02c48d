/// Writes texts as JSON. Foundation's encoder takes half of the time that a backlog's page takes in the database
/// (`Benchmarks/poll backlog`).
package enum JSONQuotes {
    /// Appends an object of texts, without the members whose text is `nil`.
    package static func append(_ members: [(name: String, text: String?)], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        for case (let name, let text?) in members {
            if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
            append(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            append(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends `text` between quotes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { content in
            if content.contains(where: isEscaped) {
                for byte in content { append(byte, to: &bytes) }
            } else {
                bytes.append(contentsOf: content)
            }
        }
        bytes.append(UInt8(ascii: "\""))
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
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 48 + digit : 87 + digit) }
        default: bytes.append(byte)
        }
    }
}
