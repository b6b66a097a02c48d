/// JSON of a service, as its documentation writes it.
indirect enum ChatJSON: Encodable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([ChatJSON])
    case object([String: ChatJSON])

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(arrayLiteral elements: ChatJSON...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, ChatJSON)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The object with a further member; the same one if `value` is `nil`.
    func adding(_ name: String, _ value: ChatJSON?) -> ChatJSON {
        guard case .object(var members) = self, let value else { return self }
        members[name] = value
        return .object(members)
    }
}
