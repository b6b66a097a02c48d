import Foundation

/// Reading of JSON, for the lists of other APIs. Members are in the order of their names.
extension JSONValue: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            let keys = members.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(try keys.map { ($0.stringValue, try members.decode(JSONValue.self, forKey: $0)) })
            return
        }
        let value = try decoder.singleValueContainer()
        if let elements = try? value.decode([JSONValue].self) {
            self = .array(elements)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? value.decode(Int.self) {
            self = .integer(number)
        } else {
            self = (try? value.decode(Double.self)).map(JSONValue.number) ?? .null
        }
    }

    /// The members on the way of a JSON pointer through objects.
    private static func steps(_ pointer: String) -> [String] { pointer.split(separator: "/").map(String.init) }

    /// The value at a JSON pointer through objects; `nil` if there is none.
    func value(at pointer: String) -> JSONValue? {
        Self.steps(pointer).reduce(self) { value, step in value?[step] }
    }

    /// The same value with another one at a JSON pointer through objects.
    func setting(_ value: JSONValue, at pointer: String) -> JSONValue {
        guard let step = Self.steps(pointer).first else { return value }
        var object = if case .object = self { self } else { JSONValue.object([]) }
        let rest = Self.steps(pointer).dropFirst().map { "/" + $0 }.joined()
        object[step] = (object[step] ?? .object([])).setting(value, at: rest)
        return object
    }

    /// The same value with another text in place of a part of its texts.
    func replacing(_ part: String, with other: String) -> JSONValue {
        switch self {
        case .string(let text): .string(text.replacingOccurrences(of: part, with: other))
        case .array(let values): .array(values.map { $0.replacing(part, with: other) })
        case .object(let members): .object(members.map { ($0.0, $0.1.replacing(part, with: other)) })
        case .null, .bool, .integer, .number, .encoded: self
        }
    }

    /// A text or number as text; `nil` for all others.
    var scalar: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .null, .bool, .array, .object, .encoded: nil
        }
    }
}
