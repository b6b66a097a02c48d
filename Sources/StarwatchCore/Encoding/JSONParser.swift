/// Finds the values of a JSON text in one pass, without decoding any.
///
/// It accepts what Foundation's decoder accepts, as earlier releases did: commas before a closing bracket, and numbers and
/// escapes that are wrong in values that nobody reads. Unlike Foundation it limits nesting and numbers of values, see
/// ``JSONText/isBounded(_:)``.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let numbers: JSONKeys.Numbers
    private var at = 0
    private var values = 0
    private(set) var nodes: [JSONNode] = []

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ numbers: JSONKeys.Numbers) {
        self.bytes = bytes
        self.numbers = numbers
        nodes.reserveCapacity(bytes.count / 24 + 8)
    }

    /// The values of a text, the outermost first; `nil` if it is not JSON in UTF-8 or exceeds a limit.
    static func nodes(of bytes: UnsafeBufferPointer<UInt8>, keys: JSONKeys) -> [JSONNode]? {
        guard bytes.count < UInt32.max else { return nil }
        return keys.withNumbers { numbers in
            var parser = JSONParser(bytes, numbers)
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) { parser.at = 3 }
            guard parser.value(of: JSONKeys.other, in: 0, depth: 0), parser.peek() == nil else { return nil }
            return parser.nodes
        }
    }

    /// Skips blanks and returns the byte after them.
    @inline(__always)
    private mutating func peek() -> UInt8? {
        while at < bytes.count {
            let byte = bytes[at]
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            at += 1
        }
        return nil
    }

    private mutating func value(of key: UInt8, in parent: Int, depth: Int) -> Bool {
        guard let byte = peek() else { return false }
        switch byte {
        case UInt8(ascii: "\""):
            guard let text = text() else { return false }
            append(text.isEscaped ? .escapedText : .text, key, in: parent, text.range)
            return true
        case UInt8(ascii: "{"): return members(isObject: true, key, in: parent, depth: depth + 1)
        case UInt8(ascii: "["): return members(isObject: false, key, in: parent, depth: depth + 1)
        case UInt8(ascii: "t"): return word("true", .yes, key, in: parent)
        case UInt8(ascii: "f"): return word("false", .no, key, in: parent)
        case UInt8(ascii: "n"): return word("null", .null, key, in: parent)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let start = at
            repeat { at += 1 } while at < bytes.count && Self.isPartOfNumber(bytes[at])
            append(.number, key, in: parent, start..<at)
            return true
        default: return false
        }
    }

    @inline(__always)
    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func append(_ kind: JSONNode.Kind, _ key: UInt8, in parent: Int, _ range: Range<Int>) {
        nodes.append(
            JSONNode(
                kind: kind,
                key: key,
                parent: UInt32(truncatingIfNeeded: parent),
                start: UInt32(truncatingIfNeeded: range.lowerBound),
                end: UInt32(truncatingIfNeeded: range.upperBound),
                next: UInt32(truncatingIfNeeded: nodes.count + 1)
            )
        )
    }

    private mutating func word(_ word: StaticString, _ kind: JSONNode.Kind, _ key: UInt8, in parent: Int) -> Bool {
        let end = at + word.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        for index in at..<end where bytes[index] != word.utf8Start[index - at] { return false }
        at = end
        append(kind, key, in: parent, 0..<0)
        return true
    }

    /// Parses an array or object; its bracket is the next byte.
    private mutating func members(isObject: Bool, _ key: UInt8, in parent: Int, depth: Int) -> Bool {
        values += 1
        guard depth <= JSONText.deepest, values < JSONText.mostValues else { return false }
        let index = nodes.count
        append(isObject ? .object : .array, key, in: parent, 0..<0)
        at += 1
        let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        var count = 0
        while let first = peek(), first != end {
            var name = JSONKeys.other
            if isObject {
                guard first == UInt8(ascii: "\""), let text = text() else { return false }
                name = number(of: text, in: index)
                guard peek() == UInt8(ascii: ":") else { return false }
                at += 1
            }
            guard value(of: name, in: index, depth: depth) else { return false }
            count += 1
            guard let next = peek() else { return false }
            if next == end { break }
            values += 1
            guard next == UInt8(ascii: ","), isObject || count < JSONText.longest, values < JSONText.mostValues else {
                return false
            }
            at += 1
        }
        guard at < bytes.count else { return false }
        at += 1
        nodes[index].end = UInt32(truncatingIfNeeded: count)
        nodes[index].next = UInt32(truncatingIfNeeded: nodes.count)
        return true
    }

    /// The number of a member's name.
    private mutating func number(of name: Text, in object: Int) -> UInt8 {
        let content = UnsafeBufferPointer(rebasing: bytes[name.range])
        if !name.isEscaped { return numbers(content) }
        guard var text = JSONString.decode(content) else {
            nodes[object].kind = .unreadableObject
            return JSONKeys.other
        }
        return text.withUTF8 { numbers($0) }
    }

    private typealias Text = (range: Range<Int>, isEscaped: Bool)

    /// Parses a text whose quote is the next byte. `nil` if it does not end, or is not UTF-8.
    @inline(__always)
    private mutating func text() -> Text? {
        at += 1
        let start = at
        var isEscaped = false
        var isASCII = true
        while true {
            skipPlainBytes(&isASCII)
            guard at < bytes.count else { return nil }
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: "\"") {
                let range = start..<at - 1
                guard isASCII || (try? UTF8Span(validating: bytes.extracting(range).span)) != nil else { return nil }
                return (range, isEscaped)
            }
            if byte >= 0x80 { isASCII = false }
            guard byte == UInt8(ascii: "\\") || byte < 0x20 else { continue }
            isEscaped = true
            guard byte == UInt8(ascii: "\\") else { continue }
            guard at < bytes.count else { return nil }
            let escaped = bytes[at]
            at += 1
            if escaped >= 0x80 { isASCII = false }
            guard escaped == UInt8(ascii: "u") else { continue }
            // Four bytes, which can be anything else than a quote here.
            guard at + 4 <= bytes.count, !bytes[at..<at + 4].contains(UInt8(ascii: "\"")) else { return nil }
            if bytes[at..<at + 4].contains(where: { $0 >= 0x80 }) { isASCII = false }
            at += 4
        }
    }

    /// Skips eight bytes at a time while none of them is a quote, a backslash or a control character, and then to the
    /// first of these.
    @inline(__always)
    private mutating func skipPlainBytes(_ isASCII: inout Bool) {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        while at + 8 <= bytes.count {
            let word = UnsafeRawPointer(bytes.baseAddress! + at).loadUnaligned(as: UInt64.self).littleEndian
            let quotes = word ^ (ones &* 0x22)
            let slashes = word ^ (ones &* 0x5c)
            // The lowest of these bits is exact; those above it can be wrong.
            let found =
                ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (word &- ones &* 0x20) & ~word) & tops
            if word & tops != 0 { isASCII = false }
            if found != 0 {
                at += found.trailingZeroBitCount / 8
                return
            }
            at += 8
        }
    }
}
