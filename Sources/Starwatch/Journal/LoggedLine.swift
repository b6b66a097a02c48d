import FoundationEssentials

/// A log line, taken apart for a person. A line in the text format stays as it is after its level and event.
package struct LoggedLine: Sendable, Hashable {
    package var level: String
    package var event: String
    /// The fields in their order: name and value.
    package var fields: [Field]

    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package init(_ line: String) {
        if line.hasPrefix("{"), let object = try? JSONDecoder().decode([String: Value].self, from: Data(line.utf8)) {
            level = object["level"]?.text ?? ""
            event = object["event"]?.text ?? ""
            var all = object
            if case .object(let metadata) = object["metadata"] { all.merge(metadata) { own, _ in own } }
            for name in ["timestamp", "level", "event", "metadata"] { all[name] = nil }
            fields = all.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value.text) }
        } else {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true).map(String.init)
            level = words.count > 1 ? words[1] : ""
            event = words.count > 2 ? words[2] : line
            fields = []
            if words.count > 3 { fields = Self.fields(words[3]) }
        }
    }

    package subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The poll, sink or port that it is about; `nil` for the whole agent.
    package var subject: String? { self["poll"] ?? self["sink"] ?? self["port"] }

    /// The fields of a line in the text format.
    private static func fields(_ text: String) -> [Field] {
        var fields: [Field] = []
        var rest = Substring(text.drop { $0 == " " })
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals])
            rest = rest[rest.index(after: equals)...]
            var value = ""
            if rest.first == "\"" {
                rest.removeFirst()
                while let character = rest.first, character != "\"" {
                    rest.removeFirst()
                    if character == "\\", let next = rest.first {
                        value.append(next)
                        rest.removeFirst()
                    } else {
                        value.append(character)
                    }
                }
                rest = rest.dropFirst()
            } else {
                value = String(rest.prefix { $0 != " " })
                rest = rest.dropFirst(value.count)
            }
            fields.append(Field(name: name, value: value))
            rest = rest.drop { $0 == " " }
        }
        return fields
    }

    private enum Value: Decodable {
        case object([String: Value])
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let object = try? container.decode([String: Value].self) {
                self = .object(object)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Int64.self) {
                self = .text(String(number))
            } else if let number = try? container.decode(Double.self) {
                self = .text("\(number)")
            } else if let flag = try? container.decode(Bool.self) {
                self = .text("\(flag)")
            } else {
                self = .text("…")
            }
        }

        var text: String { if case .text(let text) = self { text } else { "…" } }
    }
}
