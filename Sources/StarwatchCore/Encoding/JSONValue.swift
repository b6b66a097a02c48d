/// A value of a parsed JSON text. It is valid only inside the closure of ``read(_:keys:_:)``.
struct JSONValue {
    private let nodes: UnsafePointer<JSONNode>
    private let bytes: UnsafeBufferPointer<UInt8>
    private let index: Int

    /// Parses a text and passes its outermost value to `body`.
    ///
    /// - Parameter keys: The names of members that `body` asks for.
    /// - Returns: `nil` if the text is not JSON in UTF-8.
    static func read<Result>(_ bytes: [UInt8], keys: JSONKeys, _ body: (JSONValue) -> Result) -> Result? {
        bytes.withUnsafeBufferPointer { read($0, keys: keys, body) }
    }

    private static func read<Result>(
        _ bytes: UnsafeBufferPointer<UInt8>,
        keys: JSONKeys,
        _ body: (JSONValue) -> Result
    ) -> Result? {
        JSONParser.nodes(of: bytes, keys: keys)?.withUnsafeBufferPointer {
            body(JSONValue(nodes: $0.baseAddress!, bytes: bytes, index: 0))
        }
    }

    /// Parses this text as JSON and passes its outermost value to `body`. `nil` as in ``read(_:keys:_:)``, or if this is
    /// no text.
    func readText<Result>(keys: JSONKeys, _ body: (JSONValue) -> Result) -> Result? {
        withUTF8 { JSONValue.read($0, keys: keys, body) } ?? nil
    }

    /// Parses this object again, as the outermost value of a text, and passes it to `body`. `nil` if it was skipped, or this
    /// is no object.
    func readObject<Result>(keys: JSONKeys, _ body: (JSONValue) -> Result) -> Result? {
        source.flatMap { JSONValue.read(UnsafeBufferPointer(rebasing: bytes[$0]), keys: keys, body) }
    }

    private var node: JSONNode { nodes[index] }
    private var content: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[Int(node.start)..<Int(node.end)])
    }
    private func value(at index: UInt32) -> JSONValue { JSONValue(nodes: nodes, bytes: bytes, index: Int(index)) }

    var isNull: Bool { node.kind == .null }
    var isObject: Bool { node.kind == .object }

    /// The range of an object's bytes in the parsed text; `nil` if it was skipped, or this is no object.
    var source: Range<Int>? {
        guard isObject, node.start < node.end else { return nil }
        return Int(node.start)..<Int(node.end)
    }

    /// `nil` if the value is neither true nor false.
    var bool: Bool? {
        switch node.kind {
        case .yes: true
        case .no: false
        default: nil
        }
    }

    /// `nil` if the value is not a number, or not representable.
    var number: Double? { node.kind == .number ? Double.json(content) : nil }

    /// `nil` if the value is not a text, or has an invalid escape.
    var text: String? {
        switch node.kind {
        // The parser has checked the bytes. To check them again takes 5 % of a decoded page (`Benchmarks/instructions`).
        // A text that does not know that it is ASCII is normalised to be compared.
        case .plainText: String(copying: UTF8Span(unchecked: content.span, isKnownASCII: true))
        case .text: String(copying: UTF8Span(unchecked: content.span))
        case .escapedText: String.json(content)
        default: nil
        }
    }

    /// The ``text`` as one line without control characters, or with its line ends.
    @inline(__always)
    func cleanText(keepsLines: Bool = false) -> String? {
        node.kind == .plainText ? text : text?.withoutControls(keepsLines: keepsLines)
    }

    /// The ``text`` as one line without control characters.
    @inline(__always)
    var line: String? { cleanText() }

    /// A text as one line, a number or a flag, as text; `nil` for anything else.
    var scalar: String? {
        if let bool { return "\(bool)" }
        guard let number else { return line }
        return Int(exactly: number).map(String.init) ?? number.description
    }

    /// The result of `body` for the bytes of ``text``, which are not copied if they have no escapes.
    func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        if node.kind == .text || node.kind == .plainText { return body(content) }
        guard var text else { return nil }
        return text.withUTF8(body)
    }

    /// The first member of an object whose name has this number.
    subscript(_ key: UInt8) -> JSONValue? {
        guard isObject else { return nil }
        var child = UInt32(index + 1)
        while child < node.next {
            if nodes[Int(child)].key == key { return value(at: child) }
            child = nodes[Int(child)].next
        }
        return nil
    }

    /// The number of elements, 0 for a skipped array; `nil` if the value is not an array.
    var count: Int? { node.kind == .array ? Int(node.end) : nil }

    /// The number of the member's name among ``JSONKeys``.
    var key: UInt8 { node.key }

    /// The elements of an array, or the values of an object's members.
    var elements: some Sequence<JSONValue> {
        sequence(state: UInt32(index + 1)) { [self] child in
            guard child < node.next else { return nil }
            defer { child = nodes[Int(child)].next }
            return value(at: child)
        }
    }

    /// The place of the value, such as `$.data[3].plan`.
    ///
    /// - Parameter name: Returns the name with a number.
    func path(_ name: (UInt8) -> String) -> String {
        guard index > 0 else { return "$" }
        let parent = value(at: node.parent)
        if parent.count == nil { return parent.path(name) + "." + name(node.key) }
        let position = parent.elements.enumerated().first { $0.element.index == index }?.offset ?? 0
        return parent.path(name) + "[\(position)]"
    }
}

/// A value of a JSON text that a reader can ask for. The nodes of a text are in the order of the text.
struct JSONNode {
    enum Kind: UInt8 {
        case null, yes, no, number, text, array, object
        /// A text of ASCII without escapes and control characters, as most are.
        case plainText
        /// A text with escapes or control characters, which are checked when it is read.
        case escapedText
        /// An object with a name that is no text. Readers treat it as a value of another type.
        case unreadableObject
    }

    var kind: Kind
    /// The number of the member's name among ``JSONKeys``; of an element, ``JSONKeys/other``.
    var key: UInt8
    /// The index of the array or object that contains this node; its own for the outermost.
    var parent: UInt32
    /// The range of a text, number or object, empty for an object that was skipped. The `end` of an array is the number of its
    /// elements, and 0 if they were skipped.
    var start: UInt32
    var end: UInt32
    /// The index of the node after this one and all that it contains.
    var next: UInt32
}

extension Double {
    /// The value; `nil` if it is not JSON's form of a number, infinite, or too small for anything but zero.
    static func json(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let parts = JSONNumber(bytes) else { return nil }
        // Numbers with few digits need no text: a whole number and a power of ten that are exact give an exactly rounded
        // quotient.
        if parts.hasExactParts {
            let value = Double(parts.digits) / powers[parts.fraction]
            return bytes[0] == UInt8(ascii: "-") ? -value : value
        }
        guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else { return nil }
        return value != 0 || parts.isZero ? value : nil
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    ]

    /// The parts of a number.
    private struct JSONNumber {
        /// The digits before the exponent; wrong if there are more than 18.
        var digits: UInt64 = 0
        /// The number of digits after the point.
        var fraction = 0
        var isZero: Bool
        var hasExactParts: Bool

        /// `nil` if the bytes are not JSON's form of a number.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            var at = bytes.first == UInt8(ascii: "-") ? 1 : 0
            var digits: UInt64 = 0
            var isZero = true
            func skipDigits() -> Int {
                let start = at
                while at < bytes.count, (48...57).contains(bytes[at]) {
                    if bytes[at] != 48 { isZero = false }
                    digits = digits &* 10 &+ UInt64(bytes[at] - 48)
                    at += 1
                }
                return at - start
            }
            let start = at
            let whole = skipDigits()
            guard whole == 1 || (whole > 1 && bytes[start] != 48) else { return nil }
            if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
                at += 1
                fraction = skipDigits()
                guard fraction > 0 else { return nil }
            }
            (self.digits, self.isZero) = (digits, isZero)
            hasExactParts = at == bytes.count && whole + fraction <= 18 && digits < 1 << 53
            if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
                at += 1
                if at < bytes.count, bytes[at] == UInt8(ascii: "-") || bytes[at] == UInt8(ascii: "+") { at += 1 }
                guard skipDigits() > 0 else { return nil }
            }
            guard at == bytes.count else { return nil }
        }
    }
}
