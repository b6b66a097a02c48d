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

    /// The texts between the variables, in the order of the text.
    var literals: [String] {
        pieces.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// The name of the variable that is the whole text; `nil` for any other text.
    var onlyVariable: String? { pieces.count == 1 ? variables.first : nil }

    /// Whether a `{{` lacks its `}}`.
    var hasOpenVariable: Bool {
        pieces.contains { if case .text(let text) = $0 { text.contains("{{") } else { false } }
    }

    /// Fills the variables. A name is a field of the content, or a path such as `items.0.title`.
    public func render(_ content: DigestContent?) -> Rendering { render { content?[$0] } }

    /// Fills each variable with the text of its name; one without a text stays.
    func render(_ text: (_ name: String) -> String?) -> Rendering {
        var rendering = Rendering(text: "", unknown: [])
        for piece in pieces {
            switch piece {
            case .text(let text): rendering.text += text
            case .variable(let name, let written):
                if let value = text(name) {
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
    private let root: JSONTree

    /// `nil` unless the bytes are a JSON object.
    public init?(json: [UInt8]) {
        guard let root = JSONTree(json: json), case .object = root else { return nil }
        self.root = root
    }

    /// Whether the content has no field, or only fields that are `null`, blank or empty.
    public var isEmpty: Bool { root.isEmpty }

    /// Whether bytes that are not an object still mean "no content": blank text, an empty list or text, or `null`.
    public static func isNothing(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ [9, 10, 13, 32].contains($0) }) { return true }
        return JSONTree(json: bytes)?.isEmpty ?? false
    }

    /// The text of the field at a path; `nil` for a missing field, an object or a list.
    public subscript(path: String) -> String? { root[path]?.scalar }
}
