/// Finds the values of a JSON text that its reader asks for in one pass, without decoding any.
///
/// It accepts what Foundation's decoder accepts, as earlier releases did: commas before a closing bracket, and numbers and
/// escapes that are wrong in values that nobody reads.
///
/// A value that nobody asks for is skipped: a member with another name, an array other than ``JSONKeys/list``, its elements
/// after ``longest``, and what is nested deeper than ``deepest``. Skipping costs no memory and has no limit, because anybody who writes a claim decides
/// what is in it. Only the answer's size limits what it can cost.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let numbers: JSONKeys.Numbers
    private let list: UInt8
    private var at = 0
    private(set) var nodes: [JSONNode] = []
    /// Whether each open bracket of a skipped value is an object's; empty between two of them.
    private var skipped: [Bool] = []

    /// The deepest nesting that a reader asks for, above the deepest of any page: `$.data[0].wrappedClaimBefore.claim.
    /// location.geo` is 7.
    static let deepest = 8
    /// The largest number of elements that are read: ten times the largest page of a real server.
    static let longest = 1000

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ numbers: JSONKeys.Numbers, list: UInt8) {
        (self.bytes, self.numbers, self.list) = (bytes, numbers, list)
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { at = 3 }
    }

    /// The values of a text, the outermost first; `nil` if it is not JSON in UTF-8.
    static func nodes(of bytes: UnsafeBufferPointer<UInt8>, keys: JSONKeys) -> [JSONNode]? {
        guard bytes.count < UInt32.max else { return nil }
        return keys.withNumbers { numbers in
            var parser = JSONParser(bytes, numbers, list: keys.list)
            parser.nodes.reserveCapacity(bytes.count / 24 + 8)
            guard parser.value(of: JSONKeys.other, in: 0, depth: 0), parser.peek() == nil else { return nil }
            return parser.nodes
        }
    }

    /// Returns whether the bytes are one complete JSON value in UTF-8.
    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        JSONKeys.none.withNumbers { numbers in
            var parser = JSONParser(bytes, numbers, list: JSONKeys.other)
            return parser.skip() && parser.peek() == nil
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
            append(text.isEscaped ? .escapedText : text.isASCII ? .plainText : .text, key, in: parent, text.range)
            return true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            let isRead =
                isObject ? depth < Self.deepest : depth == 0 || depth == 1 && key == list && key != JSONKeys.other
            if isRead { return members(isObject: isObject, key, in: parent, depth: depth + 1) }
            append(isObject ? .object : .array, key, in: parent, 0..<0)
            return skip()
        default:
            let start = at
            guard let kind = scalar(byte) else { return false }
            append(kind, key, in: parent, start..<at)
            return true
        }
    }

    /// Parses a word or a number that begins with `byte`.
    @inline(__always)
    private mutating func scalar(_ byte: UInt8) -> JSONNode.Kind? {
        switch byte {
        case UInt8(ascii: "t"): return word("true") ? .yes : nil
        case UInt8(ascii: "f"): return word("false") ? .no : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            repeat { at += 1 } while at < bytes.count && Self.isPartOfNumber(bytes[at])
            return .number
        default: return nil
        }
    }

    /// Skips a value of any depth, without recursion.
    private mutating func skip() -> Bool {
        repeat {
            guard let byte = peek() else { return false }
            switch byte {
            case UInt8(ascii: "\""): guard text() != nil else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                at += 1
                skipped.append(byte == UInt8(ascii: "{"))
                guard let next = peek() else { return false }
                if next == Self.end(ofObject: skipped[skipped.count - 1]) { break }
                guard skipName() else { return false }
                continue
            default: guard scalar(byte) != nil else { return false }
            }
            guard closeSkipped() else { return false }
        } while !skipped.isEmpty
        return true
    }

    /// Skips what follows a skipped value: closing brackets, or a comma and the next member's name.
    private mutating func closeSkipped() -> Bool {
        while let isObject = skipped.last {
            guard let next = peek() else { return false }
            if next == UInt8(ascii: ",") {
                at += 1
                guard let following = peek() else { return false }
                if following != Self.end(ofObject: isObject) { return skipName() }
            } else if next != Self.end(ofObject: isObject) {
                return false
            }
            at += 1
            skipped.removeLast()
        }
        return true
    }

    /// Skips the name of a member of the innermost skipped object, and its colon.
    private mutating func skipName() -> Bool {
        guard skipped.last == true else { return true }
        guard peek() == UInt8(ascii: "\""), text() != nil, peek() == UInt8(ascii: ":") else { return false }
        at += 1
        return true
    }

    private static func end(ofObject isObject: Bool) -> UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

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

    private mutating func word(_ word: StaticString) -> Bool {
        let end = at + word.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        for index in at..<end where bytes[index] != word.utf8Start[index - at] { return false }
        at = end
        return true
    }

    /// Parses an array or object; its bracket is the next byte.
    private mutating func members(isObject: Bool, _ key: UInt8, in parent: Int, depth: Int) -> Bool {
        let (index, start) = (nodes.count, at)
        append(isObject ? .object : .array, key, in: parent, 0..<0)
        at += 1
        let end = Self.end(ofObject: isObject)
        var count = 0
        while let first = peek(), first != end {
            var name = JSONKeys.other
            if isObject {
                guard first == UInt8(ascii: "\""), let text = text() else { return false }
                name = number(of: text, in: index)
                guard peek() == UInt8(ascii: ":") else { return false }
                at += 1
            }
            let isRead = isObject ? name != JSONKeys.other : count < Self.longest
            guard isRead ? value(of: name, in: index, depth: depth) : skip() else { return false }
            count += 1
            guard let next = peek() else { return false }
            if next == end { break }
            guard next == UInt8(ascii: ",") else { return false }
            at += 1
        }
        guard at < bytes.count else { return false }
        at += 1
        if isObject {
            nodes[index].start = UInt32(truncatingIfNeeded: start)
            nodes[index].end = UInt32(truncatingIfNeeded: at)
        } else {
            nodes[index].end = UInt32(truncatingIfNeeded: count)
        }
        nodes[index].next = UInt32(truncatingIfNeeded: nodes.count)
        return true
    }

    /// The number of a member's name.
    private mutating func number(of name: Text, in object: Int) -> UInt8 {
        let content = UnsafeBufferPointer(rebasing: bytes[name.range])
        if !name.isEscaped { return numbers(content) }
        guard var text = String.json(content) else {
            nodes[object].kind = .unreadableObject
            return JSONKeys.other
        }
        return text.withUTF8 { numbers($0) }
    }

    private typealias Text = (range: Range<Int>, isEscaped: Bool, isASCII: Bool)

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
                return (range, isEscaped, isASCII)
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
        while at + 8 <= bytes.count {
            let word = UnsafeRawPointer(bytes.baseAddress! + at).loadUnaligned(as: UInt64.self).littleEndian
            if word & Self.tops != 0 { isASCII = false }
            let found = Self.specialBytes(of: word)
            if found != 0 {
                at += found.trailingZeroBitCount / 8
                return
            }
            at += 8
        }
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// The top bits of the bytes that are a quote, a backslash or a control character. The lowest of these bits is exact;
    /// those above it can be wrong.
    @inline(__always)
    static func specialBytes(of word: UInt64) -> UInt64 {
        let quotes = word ^ (ones &* 0x22)
        let slashes = word ^ (ones &* 0x5c)
        return ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (word &- ones &* 0x20) & ~word) & tops
    }
}
