/// Finds the texts of a JSON document that is sent to others. It accepts RFC 8259 and nothing else, and nests as deep as
/// ``JSONText/deepest``.
struct JSONTextScanner {
    /// A text, with the range of its bytes and the quotes, and whether it is the name of a member.
    typealias Found = (range: Range<Int>, text: String, isName: Bool)

    /// The place at which the document is not JSON.
    struct Failure: Error {
        var offset: Int
    }

    private let bytes: [UInt8]
    private var at = 0
    private var found: [Found] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func texts(of bytes: [UInt8]) throws(Failure) -> [Found] {
        var scanner = JSONTextScanner(bytes)
        try scanner.value(depth: 1)
        guard scanner.peek() == nil else { throw Failure(offset: scanner.at) }
        return scanner.found
    }

    static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x0a, 0x0d, 0x09].contains(byte) }

    /// Skips blanks and returns the byte after them.
    private mutating func peek() -> UInt8? {
        while at < bytes.count, Self.isBlank(bytes[at]) { at += 1 }
        return at < bytes.count ? bytes[at] : nil
    }

    private mutating func value(depth: Int) throws(Failure) {
        switch peek() {
        case UInt8(ascii: "\""): try text(isName: false)
        case UInt8(ascii: "{") where depth <= JSONText.deepest:
            try members(until: UInt8(ascii: "}"), areNamed: true, depth: depth)
        case UInt8(ascii: "[") where depth <= JSONText.deepest:
            try members(until: UInt8(ascii: "]"), areNamed: false, depth: depth)
        default: try word()
        }
    }

    private mutating func members(until end: UInt8, areNamed: Bool, depth: Int) throws(Failure) {
        at += 1
        if peek() == end {
            at += 1
            return
        }
        while true {
            if areNamed {
                guard peek() == UInt8(ascii: "\"") else { throw Failure(offset: at) }
                try text(isName: true)
                guard peek() == UInt8(ascii: ":") else { throw Failure(offset: at) }
                at += 1
            }
            try value(depth: depth + 1)
            guard let next = peek(), next == end || next == UInt8(ascii: ",") else { throw Failure(offset: at) }
            at += 1
            if next == end { return }
        }
    }

    private mutating func text(isName: Bool) throws(Failure) {
        let start = at
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
        guard at < bytes.count, let text = bytes[start + 1..<at].withUnsafeBufferPointer({ String.json($0) })
        else { throw Failure(offset: start) }
        at += 1
        found.append((start..<at, text, isName))
    }

    /// A number, `true`, `false` or `null`.
    private mutating func word() throws(Failure) {
        let start = at
        while at < bytes.count, !Self.isBlank(bytes[at]), !",:[]{}\"".utf8.contains(bytes[at]) { at += 1 }
        let word = bytes[start..<at]
        let isWord = ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
        guard isWord || word.withUnsafeBufferPointer({ Double.json($0) }) != nil else {
            throw Failure(offset: start)
        }
    }
}
