import FoundationEssentials

/// A text with `{{name}}` variables that a JSON object fills.
public struct TextTemplate: Sendable, Hashable {
    /// A filled template.
    public struct Rendering: Sendable, Hashable {
        public var text: String
        /// The variables that the content lacks. They stay in the text unchanged.
        public var unknown: [String]
    }

    private enum Piece: Sendable, Hashable {
        case text(String)
        case variable(name: String, written: String)
    }

    private let pieces: [Piece]

    /// Parses a template. A `{{` without `}}` is text.
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

    /// The names of the variables, in the order of the text.
    package var variables: [String] {
        pieces.compactMap { if case .variable(let name, _) = $0 { name } else { nil } }
    }

    /// Fills the variables. A name is a field of the content, or a path such as `items.0.title`.
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

/// The content fetched for a digest: a JSON object.
public struct DigestContent: Sendable, Hashable {
    private enum Value: Sendable, Hashable, Decodable {
        case text(String)
        case list([Value])
        case object([String: Value])

        /// Whether the value is blank text, or a list or object of empty values. Numbers and booleans are never empty.
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

    /// Whether the content has no field, or only fields that are `null`, blank or empty.
    public var isEmpty: Bool { root.isEmpty }

    /// Whether bytes that are not an object still mean "no content": blank text, an empty list or text, or `null`.
    public static func isNothing(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ [9, 10, 13, 32].contains($0) }) { return true }
        return (try? JSONDecoder().decode(Value.self, from: Data(bytes)))?.isEmpty ?? false
    }

    /// The text of the field at a path; `nil` for a missing field, an object or a list.
    public subscript(path: String) -> String? {
        var value = root
        // A field name can contain a dot.
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
