/// Quoted-printable text (RFC 2045, section 6.7), in which every line has 76 bytes at most.
extension MailMessage {
    private static let hex = Array("0123456789ABCDEF".utf8)
    /// The longest line without its soft end.
    private static let longestLine = 75

    /// Encodes a text. Each of its lines ends with CR LF.
    static func quotedPrintable(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines {
            append(Array(line.utf8), to: &result)
            result += [13, 10]
        }
        return result
    }

    private static func append(_ line: [UInt8], to result: inout [UInt8]) {
        var column = 0
        for (index, byte) in line.enumerated() {
            let isBlank = byte == 32 || byte == 9
            let isPlain =
                isBlank ? index < line.count - 1 : (33...126).contains(byte) && byte != UInt8(ascii: "=")
            let piece = isPlain ? [byte] : [UInt8(ascii: "="), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            if column + piece.count > longestLine {
                result += [UInt8(ascii: "="), 13, 10]
                column = 0
            }
            result += piece
            column += piece.count
        }
    }
}
