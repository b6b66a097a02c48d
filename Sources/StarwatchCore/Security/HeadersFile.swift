/// The headers in a file, one `Name: value` a line. Blank lines do not count.
package enum HeadersFile {
    /// The largest number of headers.
    package static let mostHeaders = 20
    /// The longest value in bytes. Servers refuse longer lines.
    private static let longestValue = 8000

    /// Headers that the agent or the connection sets, in lower case.
    private static let own: Set = [
        "host", "content-length", "transfer-encoding", "connection", "range", "if-none-match", "if-modified-since",
        "accept-encoding", "expect", "te", "trailer", "upgrade", "keep-alive",
    ]

    /// Reads the headers of a file's content.
    ///
    /// - Throws: ``SecretContent/Mistake`` with the line, and without any text of the file.
    package static func parse(_ content: [UInt8]) throws(SecretContent.Mistake) -> [(name: String, value: String)] {
        var rest = content[...]
        if rest.starts(with: "\u{FEFF}".utf8) { rest = rest.dropFirst(3) }
        var headers: [(name: String, value: String)] = []
        var names: Set<String> = []
        for (index, line) in rest.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            let text = trimmed(line)
            if text.isEmpty { continue }
            let place = "line \(index + 1)"
            guard let colon = text.firstIndex(of: UInt8(ascii: ":")), isName(text[..<colon]) else {
                throw SecretContent.Mistake(advice: "\(place) must be Name: value; correct it")
            }
            let name = String(decoding: text[..<colon], as: UTF8.self)
            let value = trimmed(text[(colon + 1)...])
            guard !value.isEmpty, value.count <= longestValue, value.allSatisfy({ (32...126).contains($0) }) else {
                throw SecretContent.Mistake(
                    advice: "\(place) must have a value of 1 to \(longestValue) printable ASCII characters; correct it"
                )
            }
            if own.contains(name.lowercased()) {
                throw SecretContent.Mistake(advice: "\(place) has a header that the agent sets itself; remove it")
            }
            guard names.insert(name.lowercased()).inserted else {
                throw SecretContent.Mistake(advice: "\(place) has the name of an earlier header; remove one")
            }
            headers.append((name, String(decoding: value, as: UTF8.self)))
        }
        if headers.isEmpty { throw SecretContent.Mistake(advice: "it is empty; check the path") }
        if headers.count > mostHeaders {
            throw SecretContent.Mistake(advice: "it must have at most \(mostHeaders) headers; remove the others")
        }
        return headers
    }

    /// Whether the bytes are a token (RFC 9110, section 5.6.2).
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
