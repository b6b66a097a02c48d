import FoundationEssentials

/// Text with `{{name}}` in it, and JSON to fill it from.
public struct TextTemplate: Sendable, Hashable {
    /// A filled template.
    public struct Rendering: Sendable, Hashable {
        public var text: String
        /// The names that the content does not have; they stay in the text as they were written.
        public var unknown: [String]
    }

    private enum Piece: Sendable, Hashable {
        case text(String)
        case variable(name: String, written: String)
    }

    private let pieces: [Piece]

    /// Reads a template. A `{{` without its `}}` is text.
    public init(_ text: String) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            if open.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<open.lowerBound]))) }
            let name = rest[open.upperBound..<close.lowerBound].split(separator: " ").joined(separator: " ")
            pieces.append(.variable(name: name, written: String(rest[open.lowerBound..<close.upperBound])))
            rest = rest[close.upperBound...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        self.pieces = pieces
    }

    /// Fills it. A name is a field of the content, or a path of fields and indexes such as `items.0.title`.
    public func render(_ content: DigestContent?) -> Rendering {
        var rendering = Rendering(text: "", unknown: [])
        for piece in pieces {
            switch piece {
            case .text(let text): rendering.text += text
            case .variable(let name, let written):
                if let value = content?[name] {
                    rendering.text += value
                } else {
                    rendering.text += written
                    rendering.unknown.append(name)
                }
            }
        }
        return rendering
    }
}

/// What was fetched for a digest: a JSON object.
public struct DigestContent: Sendable, Hashable {
    private enum Value: Sendable, Hashable, Decodable {
        case text(String)
        case list([Value])
        case object([String: Value])

        /// A blank text, and a list or an object in which everything is empty. A number and a truth value are something.
        var isEmpty: Bool {
            switch self {
            case .text(let text): text.allSatisfy(\.isWhitespace)
            case .list(let values): values.allSatisfy(\.isEmpty)
            case .object(let fields): fields.values.allSatisfy(\.isEmpty)
            }
        }

        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: AnyKey.self) {
                var fields: [String: Value] = [:]
                for key in object.allKeys { fields[key.stringValue] = try object.decode(Value.self, forKey: key) }
                self = .object(fields)
                return
            }
            if var list = try? decoder.unkeyedContainer() {
                var values: [Value] = []
                while !list.isAtEnd { values.append(try list.decode(Value.self)) }
                self = .list(values)
                return
            }
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .text("")
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let flag = try? value.decode(Bool.self) {
                self = .text(flag ? "true" : "false")
            } else if let number = try? value.decode(Int64.self) {
                self = .text("\(number)")
            } else {
                self = .text("\(try value.decode(Double.self))")
            }
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let root: Value

    /// `nil` unless the bytes are a JSON object.
    public init?(json: [UInt8]) {
        guard let root = try? JSONDecoder().decode(Value.self, from: Data(json)), case .object = root else {
            return nil
        }
        self.root = root
    }

    /// Whether nothing is in it: it has no field, or all of them are `null`, blank, or empty themselves.
    public var isEmpty: Bool { root.isEmpty }

    /// Whether bytes that are no content say that there is none: they are blank, or an empty list, text or `null`.
    public static func isNothing(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ [9, 10, 13, 32].contains($0) }) { return true }
        return (try? JSONDecoder().decode(Value.self, from: Data(bytes)))?.isEmpty ?? false
    }

    /// The text of the field at a path; `nil` when there is none, or it is an object or a list.
    public subscript(path: String) -> String? {
        var value = root
        // A field may have a dot in its name.
        if case .object(let fields) = root, case .text(let text)? = fields[path] { return text }
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            switch value {
            case .object(let fields):
                guard let next = fields[String(step)] else { return nil }
                value = next
            case .list(let values):
                guard let index = Int(step), values.indices.contains(index) else { return nil }
                value = values[index]
            case .text: return nil
            }
        }
        guard case .text(let text) = value else { return nil }
        return text
    }
}
