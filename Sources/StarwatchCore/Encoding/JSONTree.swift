import FoundationEssentials

/// A JSON value of any type.
package enum JSONTree: Sendable, Hashable {
    case null
    case flag(Bool)
    case number(Int64)
    case decimal(Double)
    case text(String)
    case list([JSONTree])
    case object([String: JSONTree])

    /// `nil` for bytes that are not JSON.
    package init?(json: [UInt8]) {
        guard let tree = try? JSONDecoder().decode(JSONTree.self, from: Data(json)) else { return nil }
        self = tree
    }

    /// The text of a text, number or flag, empty for `null`; `nil` for a list or an object.
    package var scalar: String? {
        switch self {
        case .null: ""
        case .flag(let value): value ? "true" : "false"
        case .number(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .text(let value): value
        case .list, .object: nil
        }
    }

    /// The value of a number; `nil` for all others.
    package var double: Double? {
        switch self {
        case .number(let value): Double(value)
        case .decimal(let value): value
        case .null, .flag, .text, .list, .object: nil
        }
    }

    /// Whether the value is `null`, blank text, or a list or object of empty values. Numbers and flags are never empty.
    var isEmpty: Bool {
        switch self {
        case .null: true
        case .text(let text): text.allSatisfy(\.isWhitespace)
        case .list(let values): values.allSatisfy(\.isEmpty)
        case .object(let members): members.values.allSatisfy(\.isEmpty)
        case .flag, .number, .decimal: false
        }
    }

    /// The value at a path, such as `items.0.title`; `nil` if there is none.
    package subscript(path: String) -> JSONTree? {
        // A member's name can contain a dot.
        if case .object(let members) = self, let value = members[path], value.scalar != nil { return value }
        var value = self
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            switch value {
            case .object(let members):
                guard let next = members[String(step)] else { return nil }
                value = next
            case .list(let values):
                guard let index = Int(step), values.indices.contains(index) else { return nil }
                value = values[index]
            case .null, .flag, .number, .decimal, .text: return nil
            }
        }
        return value
    }
}

/// A key of any name.
package struct AnyKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ text: String) { stringValue = text }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }
}

extension JSONTree: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(number)
        } else if let decimal = try? value.decode(Double.self) {
            self = .decimal(decimal)
        } else if let members = try? value.decode([String: JSONTree].self) {
            self = .object(members)
        } else {
            // A scalar without a value in Swift, such as 1e999, is no reason to lose all others.
            self = (try? value.decode([JSONTree].self)).map(JSONTree.list) ?? .null
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
    package init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    package init(dictionaryLiteral elements: (String, JSONTree)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }
}
