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
